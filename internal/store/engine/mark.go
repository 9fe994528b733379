package engine

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"strconv"
	"time"

	"landfall/internal/lib/limits"
)

// commitMark identifies one commit. It starts with the time, so that recent marks
// are close in the index; the rest is random.
type commitMark [16]byte

// newMark returns a unique mark.
func newMark() (m commitMark) {
	binary.BigEndian.PutUint64(m[:8], uint64(time.Now().UnixMicro())<<8)
	rand.Read(m[7:])
	return m
}

// insertMark inserts a mark into a transaction that is about to commit. Every
// transaction that may write inserts one, even if it changed nothing. Its
// answer then depends on its own commit, which a standby has too, and not on
// the commit of another transaction that may exist only on this server. The mark
// also names the last schema step that this program knows; see fence.go.
func insertMark(step int64) string {
	return `INSERT INTO commit_mark (id, at, void, step) VALUES ($1, {now}, FALSE, ` + strconv.FormatInt(step, 10) + `)`
}

// resolve finds out whether a commit whose answer was lost has happened, by
// inserting the same mark again. That waits while the old transaction is
// undecided. If the mark exists, the commit happened. If the insert succeeds, it
// did not happen and never can, because it would need the same mark. The inserted
// mark is void, so that a second attempt does not mistake it for the commit's. A
// mark that is found is updated, so that this ends with a commit which carries
// the other one to a standby. A void mark changes nothing, so no schema is too new
// for it.
func (m commitMark) resolve(limit time.Duration, run func(context.Context, func(*Tx) error) error) (committed bool, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for {
		err = run(ctx, func(t *Tx) error {
			count, err := t.Exec(ctx, `INSERT INTO commit_mark (id, at, void, step) VALUES ($1, {now}, TRUE, 2147483647)
				ON CONFLICT (id) DO NOTHING`, m[:])
			if err != nil || count > 0 {
				// An earlier attempt may have found something else before its
				// own commit failed.
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
		case <-time.After(limits.CommitLookupRetry):
		}
	}
}
