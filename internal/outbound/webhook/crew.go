package webhook

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"
)

// Crew does what is due, a bounded number of things at once. Whoever is slow
// keeps one place of the crew and holds up nobody else; a place that becomes
// free is filled at once while there is more.
type Crew[T any] struct {
	Name   string // of the work, for the log
	AtOnce int    // things under way
	// Look is how long to wait before looking again when nothing was due. The
	// replicas of a service spread out by themselves.
	Look time.Duration
	// Claim takes at most so many things that are due, under a lease. It gives
	// fewer when there are no more.
	Claim func(ctx context.Context, most int) ([]T, error)
	// Do does one and writes down what became of it, all within its lease. The
	// context ends with the crew; what is under way may be finished first.
	Do  func(ctx context.Context, one T)
	Log *slog.Logger

	once sync.Once
	wake chan struct{}
}

func (c *Crew[T]) bell() chan struct{} {
	c.once.Do(func() { c.wake = make(chan struct{}, 1) })
	return c.wake
}

// Wake says that something may be due now. It never waits.
func (c *Crew[T]) Wake() {
	select {
	case c.bell() <- struct{}{}:
	default:
	}
}

// Run works until the context ends, and then waits for what is under way. A
// database that is away is waited for.
func (c *Crew[T]) Run(ctx context.Context) {
	var working sync.WaitGroup
	defer working.Wait()
	places := make(chan struct{}, c.AtOnce)
	for failed := 0; ; {
		free := c.AtOnce - len(places)
		var found []T
		var err error
		if free > 0 {
			found, err = c.Claim(ctx, free)
		}
		for _, one := range found {
			places <- struct{}{}
			working.Go(func() {
				defer func() {
					<-places
					if len(found) == free {
						c.Wake() // there may be more than there were places for
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
			c.Log.Warn("what is due cannot be taken now", "work", c.Name, "error", err)
		default:
			failed = 0
		}
		if !c.rest(ctx, failed) {
			return
		}
	}
}

// rest waits until there may be something to do. False: the end has come.
func (c *Crew[T]) rest(ctx context.Context, failed int) bool {
	pause := c.Look/2 + rand.N(c.Look/2+1) //nolint:gosec // only to come at another time than the others
	bell := c.bell()
	if failed > 0 {
		pause, bell = min(time.Duration(failed)*time.Second, 10*time.Second), nil // no bell calls a database back
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-bell:
	case <-ctx.Done():
		return false
	}
	return true
}
