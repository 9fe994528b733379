package sqlstore

import (
	"context"
	"log/slog"
	"time"
)

const (
	// lookEvery is how long a new account may be known by its numbers alone
	// while there is little to do.
	lookEvery = 2 * time.Second
	// longestRest is the longest pause between two batches.
	longestRest = 5 * time.Second
	// While accounts are being created the clerk rests so many times as long as
	// it worked: it takes a twentieth of the writer's time from them, falls
	// behind, and catches up afterwards, when it rests as long as it works.
	restBusy, restQuiet = 19, 1
)

// newClerk enters the terms of accounts some time after they were created.
func newClerk(store *Store, logger *slog.Logger) *chore {
	var newest int64
	return newChore(func(ctx context.Context) time.Duration {
		began := time.Now()
		_, more, err := store.enterSome(ctx)
		if err != nil && ctx.Err() == nil && logger != nil {
			logger.Warn("new accounts are found by their numbers alone for now", "error", err)
		}
		if err != nil || !more {
			return lookEvery
		}
		factor := restQuiet
		if now := store.newestLogged(); newest != now {
			newest, factor = now, restBusy
		}
		return min(longestRest, time.Duration(factor)*time.Since(began))
	})
}

// newestLogged gives the newest event that the clerk knows of.
func (s *Store) newestLogged() int64 {
	s.entering.Lock()
	defer s.entering.Unlock()
	return s.logged.Newest
}
