// Package worker processes items that are claimed from a database under a lease:
// a pool of workers, and the pauses between attempts that fail. Webhooks and mails
// use it.
package worker

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

// Pool claims work that is due and processes a limited number of items at the same
// time. A slow item occupies one worker and does not delay the others. A free worker
// takes the next item at once.
type Pool[T any] struct {
	Name        string // for the log
	Concurrency int    // items processed at the same time
	// PollInterval is the wait before the next claim when nothing was due. It is
	// randomised, so that replicas do not poll at the same time.
	PollInterval time.Duration
	// Claim takes up to limit items that are due, under a lease.
	Claim func(ctx context.Context, limit int) ([]T, error)
	// Do processes one item and records the result, within its lease. The context ends
	// with the pool, but Do may finish its work first.
	Do  func(ctx context.Context, one T)
	Log *slog.Logger

	once sync.Once
	wake chan struct{}
}

func (c *Pool[T]) wakeChannel() chan struct{} {
	c.once.Do(func() { c.wake = make(chan struct{}, 1) })
	return c.wake
}

// Wake makes the pool claim now. It never blocks.
func (c *Pool[T]) Wake() {
	select {
	case c.wakeChannel() <- struct{}{}:
	default:
	}
}

// Run works until the context ends, and then waits for items in progress. While the
// database is unavailable it keeps trying.
func (c *Pool[T]) Run(ctx context.Context) {
	var working sync.WaitGroup
	defer working.Wait()
	busy := make(chan struct{}, c.Concurrency)
	for failed := 0; ; {
		free := c.Concurrency - len(busy)
		var found []T
		var err error
		if free > 0 {
			found, err = c.Claim(ctx, free)
		}
		for _, one := range found {
			busy <- struct{}{}
			working.Go(func() {
				defer func() {
					<-busy
					if len(found) == free {
						c.Wake() // there may be more items
					}
				}()
				c.Do(ctx, one)
			})
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
			c.Log.Warn("cannot claim work", "work", c.Name, "error", err)
		default:
			failed = 0
		}
		if !c.wait(ctx, failed) {
			return
		}
	}
}

// wait waits until there may be work. It returns false when the context has ended.
func (c *Pool[T]) wait(ctx context.Context, failed int) bool {
	pause := c.PollInterval/2 + rand.N(c.PollInterval/2+1) //nolint:gosec // only spreads the replicas
	wake := c.wakeChannel()
	if failed > 0 {
		pause, wake = min(time.Duration(failed)*limits.ClaimRetry, limits.ClaimMaxRetry), nil // waking does not help an unavailable database
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
		return false
	}
	return true
}
