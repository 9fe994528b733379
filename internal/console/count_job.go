package console

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"landfall"
)

// countJob is a count that looks at very many accounts one by one: what the undo
// of a run would come to, or what is wrong with those that failed. It goes on
// behind the page, which shows how far it is and then what it came to.
type countJob[T any] struct {
	Result             T
	Done, Total        int
	StartedAt, EndedAt time.Time // Ended is zero while it goes on
	Error              string
	finished           chan struct{}
	previous           *countJob[T] // the one before, as long as this one goes on
}

// countJobs are those of this replica, by what is counted.
type countJobs[T any] struct {
	mu    sync.Mutex
	byKey map[string]*countJob[T]
	slots chan struct{} // as many as may count at once
	// former lets a page show the figures of before while they are counted anew:
	// not where somebody is about to act on them.
	showPrevious bool
}

const (
	// maxRunningCounts leaves the database to those who move accounts.
	maxRunningCounts = 2
	// maxCounts bounds what is remembered of those that ended.
	maxCounts = 100
	// defaultCountWait is how long a page waits for a count before it shows how far
	// it is: a few thousand accounts have been looked at by then.
	defaultCountWait = 50 * time.Millisecond
	// countMaxAge is how long figures may stand for how it is now.
	countMaxAge = time.Minute
)

func newCountJobs[T any](former bool) *countJobs[T] {
	return &countJobs[T]{showPrevious: former, byKey: map[string]*countJob[T]{}, slots: make(chan struct{}, maxRunningCounts)}
}

// countFunc is what counts, and says as it goes on how many it has seen.
type countFunc[T any] func(ctx context.Context, progress func(looked, of int)) (T, error)

// get gives how a count stands, after a moment in which small ones end. Who
// reads the page anew has it counted anew, unless counting takes long; who
// watches it or was refused on it goes on with the figures he saw.
func (c *countJobs[T]) get(r *pageRequest, key string, of int, how countFunc[T]) countJob[T] {
	now, patience := r.console.Clock(), r.console.countWait
	if r.form != nil {
		patience = pageTimeout / 2 // what was typed stands on this page only
	}
	one, begun := c.start(key, of, now, r)
	// Exactly one caller was told that it has begun, so a count never runs twice however many
	// open the page at once.
	if begun {
		ctx, cancel := r.background()
		go func() {
			defer cancel()
			c.run(ctx, one, r.console.Clock, how)
		}()
	}
	// Who leaves does not end the count: the next one to look finds it further on.
	select {
	case <-one.finished:
	case <-time.After(patience):
	case <-r.Context().Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := one.previous; known != nil && now.Sub(known.EndedAt) < countMaxAge {
		return *known // the page says as of when
	}
	return *one
}

// start gives the count that is under way, or one that ended so short a time ago
// that it still holds, or else a new one, which the caller has to run.
func (c *countJobs[T]) start(key string, of int, now time.Time, r *pageRequest) (one *countJob[T], begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.byKey[key]
	// One that is under way is joined whatever its age: to begin another beside it would only
	// make both slower.
	if known != nil && (known.EndedAt.IsZero() || now.Sub(known.EndedAt) < known.maxAge(r)) {
		return known, false
	}
	for id, old := range c.byKey {
		if len(c.byKey) >= maxCounts && !old.EndedAt.IsZero() {
			delete(c.byKey, id)
		}
	}
	one = &countJob[T]{Total: of, StartedAt: now, finished: make(chan struct{})}
	// Those under way are bounded as well: whoever opens page after page gets
	// no further count, and not a queue without an end.
	if len(c.byKey) >= maxCounts && known == nil {
		one.EndedAt, one.Error = now, "Too many others are being counted. Read the page again in a while."
		close(one.finished)
		return one, false
	}
	// Of a count that failed there are no figures to show meanwhile.
	if c.showPrevious && known != nil && known.Error == "" {
		one.previous = known
	}
	c.byKey[key] = one
	return one, true
}

// maxAge is how long a count that has ended holds for a visit.
func (c *countJob[T]) maxAge(r *pageRequest) time.Duration {
	switch {
	case r.route.partial: // the page itself is read again by who wants it counted again
		return math.MaxInt64
	case c.Error != "":
		return 0
	case r.form != nil:
		return countMaxAge
	}
	return min(c.EndedAt.Sub(c.StartedAt), countMaxAge)
}

// run counts, when its turn has come.
func (c *countJobs[T]) run(ctx context.Context, one *countJob[T], clock func() time.Time, how countFunc[T]) {
	defer close(one.finished)
	var found T
	var err error
	select {
	case c.slots <- struct{}{}:
		found, err = callRecovered(ctx, how, func(looked, of int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			one.Done, one.Total = looked, of
		})
		<-c.slots
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The one before is let go at the end, or each would hold on to all its predecessors.
	one.Result, one.EndedAt, one.previous = found, clock(), nil
	if err != nil {
		one.Error = landfall.UserError("counting accounts", err).Detail
	}
}

// callRecovered keeps a fault of ours to the count it happened in: nobody above would
// catch it behind a page, and the whole service would end.
func callRecovered[T any](ctx context.Context, how countFunc[T], progress func(looked, of int)) (found T, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %T", fault)
		}
	}()
	return how(ctx, progress)
}

// background is a context for what goes on behind a page, until the service ends.
func (r *pageRequest) background() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	go func() {
		select {
		case <-r.console.Shutdown:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
