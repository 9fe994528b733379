package sqlstore

import (
	"context"
	"log/slog"
	"time"
)

const (
	sweepEvery = time.Minute
	sweepBatch = 5000
)

// sweeper forgets marks nobody can ask for any more: looking one up takes
// seconds, and they are kept for a quarter of an hour.
type sweeper struct {
	cancel context.CancelFunc
	done   chan struct{}
}

func newSweeper(base engine, logger *slog.Logger) *sweeper {
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
			if err := sweepMarks(ctx, base); err != nil && ctx.Err() == nil {
				logger.Warn("old commit marks stay for now", "error", err)
			}
		}
	}()
	return s
}

func (s *sweeper) close() {
	s.cancel()
	<-s.done
}

// sweepMarks walks from the oldest mark on, so it needs no index but the key.
func sweepMarks(ctx context.Context, base engine) error {
	for {
		var count int64
		err := base.update(ctx, false, func(session *session) error {
			t := &tx{view{session}}
			var err error
			count, err = t.exec(ctx, `DELETE FROM commit_mark WHERE at < {now} - 900000000
				AND id IN (SELECT id FROM commit_mark ORDER BY id LIMIT $1)`, int64(sweepBatch))
			return err
		})
		if err != nil || count < sweepBatch {
			return err
		}
	}
}
