// Package upkeep does the background work of a server: it indexes new accounts for
// the search, purges data past its retention, compacts tallies, keeps the
// encryption key on record, checks the stored data for damage, and watches the
// clock. It decides what is done when; the store only executes one bounded step
// at a time, so that no caller waits long behind it.
package upkeep

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Store is what upkeep asks of a store.
type Store interface {
	Indexer
	PurgeStore
	TallyStore
	KeyStore
	ScrubStore
	landfall.ClockKeeper
}

const (
	// Between two steps a job pauses a multiple of the time the last step took. While
	// callers are at work it uses at most a twentieth of the writer's time.
	pauseBusy, pauseIdle = 19, 1
)

// Upkeep is the running background work of one server.
type Upkeep struct {
	cancel context.CancelFunc
	jobs   sync.WaitGroup
	purger purger
	clock  clockKeeper
}

// Start starts all jobs. They end with Close.
func Start(store Store, logger *slog.Logger, check ExtraCheck) *Upkeep {
	ctx, cancel := context.WithCancel(context.Background())
	u := &Upkeep{cancel: cancel, purger: purger{store: store, log: logger}, clock: clockKeeper{store: store, log: logger}}
	for _, job := range []func(context.Context) time.Duration{
		(&indexer{store: store, log: logger}).step,
		(&compactor{store: store, log: logger}).step,
		(&keyRecorder{store: store, log: logger}).step,
		(&scrubber{store: store, log: logger, check: check}).step,
		u.purger.step,
		u.clock.step,
	} {
		u.jobs.Go(func() { repeat(ctx, job) })
	}
	return u
}

// repeat runs a job until the context ends. The job returns how long to pause.
func repeat(ctx context.Context, job func(context.Context) time.Duration) {
	for pause := limits.UpkeepDelay; wait(ctx, pause) == nil; {
		pause = job(ctx)
	}
}

// wait pauses, or returns the error of a context that ends first.
func wait(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(pause):
		return nil
	}
}

// PurgeFigures returns what this server has purged since it started.
func (u *Upkeep) PurgeFigures() landfall.PurgeFigures { return u.purger.figures() }

// ClockJumps returns how many jumps of the database's clock this server noticed.
func (u *Upkeep) ClockJumps() int64 { return u.clock.jumps.Load() }

// Close stops all jobs and waits for them. It must be called before the store is
// closed, because the jobs write.
func (u *Upkeep) Close() {
	u.cancel()
	u.jobs.Wait()
}
