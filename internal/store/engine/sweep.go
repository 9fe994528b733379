package engine

import (
	"context"
	"log/slog"
	"time"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 1000
)

// sweeper forgets marks nobody can ask for any more: looking one up takes
// seconds, and they are kept for a quarter of an hour.
type sweeper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

// newSweeper begins to sweep. Every replica does: what one has taken away the
// others do not find.
func newSweeper(db *DB, logger *slog.Logger) *sweeper {
	ctx, cancel := context.WithCancel(context.Background())
	s := &sweeper{cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(sweepEvery):
			}
			if err := db.SweepMarks(ctx); err != nil && ctx.Err() == nil {
				logger.Warn("old commit marks stay for now", "error", err)
			}
		}
	}()
	return s
}

// close ends it before the queue does, so that it logs no refusal of its own
// at the end of every run.
func (s *sweeper) close() {
	s.cancel()
	<-s.done
}

// housekeeping is the tenant of the engine's own work.
const housekeeping = " housekeeping"

// SweepMarks forgets old marks, a few at a time so that nobody waits for it.
// How old they are is said by the database's clock, since the one in a mark is
// that of whoever wrote it.
func (db *DB) SweepMarks(ctx context.Context) error {
	for {
		var count int64
		err := db.Update(ctx, housekeeping, func(t *Tx) error {
			var err error
			count, err = t.Exec(ctx, `DELETE FROM commit_mark WHERE id IN
				(SELECT id FROM commit_mark WHERE at < {now} - 900000000 ORDER BY at LIMIT $1)`, int64(sweepBatch))
			return err
		})
		if err != nil || count < sweepBatch {
			return err
		}
	}
}
