package sqlstore

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"

	"landfall"
)

// mark names one commit. The clock in front keeps marks of one time together
// in the index; what makes them different is chance.
type mark [16]byte

func newMark() (m mark) {
	binary.BigEndian.PutUint64(m[:8], uint64(time.Now().UnixMicro())<<8)
	rand.Read(m[7:])
	return m
}

// leave puts the mark into the transaction that is about to commit.
func (m mark) leave(ctx context.Context, t *tx) error {
	_, err := t.exec(ctx, `INSERT INTO commit_mark (id, at, void) VALUES ($1, {now}, FALSE)`, m[:])
	return err
}

const (
	settleFor   = 15 * time.Second
	settlePause = 100 * time.Millisecond
)

// settle finds out whether a commit whose answer was lost has happened, by
// putting the same mark in once more. While the old transaction is undecided
// that waits. If the mark is there, the commit happened; if ours went in, it
// did not and never can, since it would need the same mark. Ours is void, so
// that a second try does not mistake it for the commit's.
func (m mark) settle(ctx context.Context, run func(context.Context, func(*tx) error) error) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleFor)
	defer cancel()
	for {
		err = run(ctx, func(t *tx) error {
			count, err := t.exec(ctx, `INSERT INTO commit_mark (id, at, void) VALUES ($1, {now}, TRUE)
				ON CONFLICT (id) DO NOTHING`, m[:])
			if err != nil || count > 0 {
				committed = false
				return err
			}
			var void bool
			err = t.one(ctx, `SELECT void FROM commit_mark WHERE id = $1`, []any{m[:]}, []any{&void})
			committed = !void
			return err
		})
		if err == nil {
			return committed, nil
		}
		select {
		case <-ctx.Done():
			return false, landfall.ErrUnknownOutcome
		case <-time.After(settlePause):
		}
	}
}
