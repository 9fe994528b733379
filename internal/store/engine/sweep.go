package engine

import (
	"context"
	"log/slog"
	"time"

	"landfall/internal/lib/limits"
)

const sweepBatch = 1000

// sweeper deletes old commit marks. A lookup takes seconds, and marks are kept for
// a quarter of an hour.
type sweeper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// newSweeper starts a sweeper. Every replica has one.
func newSweeper(db *DB, logger *slog.Logger) *sweeper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sweeper{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(limits.CommitMarkSweep):
			}
			if err := db.DeleteOldMarks(ctx); err != nil && ctx.Err() == nil {
				logger.Warn("cannot delete old commit marks", "error", err)
			}
		}
	}()
	return s
}

// close ends the sweeper. It must end before the queue, or it would log that it
// was refused.
func (s *sweeper) close() {
	s.cancel()
	<-s.done
}

// maintenance is the tenant of the engine's own work. The space keeps it apart
// from organisations.
const maintenance = " maintenance"

// DeleteOldMarks deletes old marks, some at a time so that no caller waits long.
// Their age is by the database's clock, because the time in a mark is that of the
// server which wrote it.
func (db *DB) DeleteOldMarks(ctx context.Context) error {
	for {
		var count int64
		err := db.Update(ctx, maintenance, func(t *Tx) error {
			var err error
			count, err = t.Exec(ctx, `DELETE FROM commit_mark WHERE id IN
				(SELECT id FROM commit_mark WHERE at < {now} - $1 ORDER BY at LIMIT $2)`, limits.CommitMarks.Microseconds(), int64(sweepBatch))
			return err
		})
		if err != nil || count < sweepBatch {
			return err
		}
	}
}
