package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"time"
)

// mark names one commit. The clock in front keeps marks of one time together
// in the index; what makes them different is chance.
type mark [16]byte

// newMark makes a mark nobody else has.
func newMark() (m mark) {
	binary.BigEndian.PutUint64(m[:8], uint64(time.Now().UnixMicro())<<8)
	rand.Read(m[7:])
	return m
}

// leaving puts a mark into the transaction that is about to commit. Every
// transaction that may write leaves one, whether it changed anything or not:
// what it answers then rests on a commit of its own, which a standby has when
// there is one, and not on somebody else's that only this server may know of.
const leaving = `INSERT INTO commit_mark (id, at, void) VALUES ($1, {now}, FALSE)`

// settlePause is how long to wait between two tries of looking a commit up.
const settlePause = 100 * time.Millisecond

// settle finds out whether a commit whose answer was lost has happened, by
// putting the same mark in once more. While the old transaction is undecided
// that waits. If the mark is there, the commit happened; if ours went in, it
// did not and never can, since it would need the same mark. Ours is void, so
// that a second try does not mistake it for the commit's. A mark that is found
// is touched: so this ends with a commit that changed something, which carries
// the one looked for to a standby.
func (m mark) settle(limit time.Duration, run func(context.Context, func(*Tx) error) error) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		err = run(ctx, func(t *Tx) error {
			count, err := t.Exec(ctx, `INSERT INTO commit_mark (id, at, void) VALUES ($1, {now}, TRUE)
				ON CONFLICT (id) DO NOTHING`, m[:])
			if err != nil || count > 0 {
				// An earlier try may have found something else before its own
				// commit failed.
				committed = false
				return err
			}
			var void bool
			err = t.One(ctx, `UPDATE commit_mark SET at = {now} WHERE id = $1 RETURNING void`, []any{m[:]}, []any{&void})
			committed = !void
			return err
		})
		if err == nil {
			return committed, nil
		}
		select {
		case <-ctx.Done():
			return false, ErrUnknownOutcome
		case <-time.After(settlePause):
		}
	}
}
