package console

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"landfall"
)

// counting is a count that looks at very many accounts one by one: what the undo
// of a run would come to, or what is wrong with those that failed. It goes on
// behind the page, which shows how far it is and then what it came to.
type counting[T any] struct {
	Found        T
	Looked, Of   int
	Began, Ended time.Time // Ended is zero while it goes on
	Trouble      string
	over         chan struct{}
	before       *counting[T] // the one before, as long as this one goes on
}

// counts are those of this replica, by what is counted.
type counts[T any] struct {
	mu    sync.Mutex
	byKey map[string]*counting[T]
	turns chan struct{} // as many as may count at once
	// former lets a page show the figures of before while they are counted anew:
	// not where somebody is about to act on them.
	former bool
}

const (
	// countsAtOnce leaves the database to those who move accounts.
	countsAtOnce = 2
	// mostCounts bounds what is remembered of those that ended.
	mostCounts = 100
	// countPatience is how long a page waits for a count before it shows how far
	// it is: a few thousand accounts have been looked at by then.
	countPatience = 50 * time.Millisecond
	// countLife is how long figures may stand for how it is now.
	countLife = time.Minute
)

func newCounts[T any](former bool) *counts[T] {
	return &counts[T]{former: former, byKey: map[string]*counting[T]{}, turns: make(chan struct{}, countsAtOnce)}
}

// looking is what counts, and says as it goes on how many it has seen.
type looking[T any] func(ctx context.Context, progress func(looked, of int)) (T, error)

// stand gives how a count stands, after a moment in which small ones end. Who
// reads the page anew has it counted anew, unless counting takes long; who
// watches it or was refused on it goes on with the figures he saw.
func (c *counts[T]) stand(v *visit, key string, of int, how looking[T]) counting[T] {
	now, patience := v.console.Clock(), v.console.patience
	if v.form != nil {
		patience = pageTime / 2 // what was typed stands on this page only
	}
	one, begun := c.begin(key, of, now, v)
	// Exactly one caller was told that it has begun, so a count never runs twice however many
	// open the page at once.
	if begun {
		ctx, cancel := v.behind()
		go func() {
			defer cancel()
			c.run(ctx, one, v.console.Clock, how)
		}()
	}
	// Who leaves does not end the count: the next one to look finds it further on.
	select {
	case <-one.over:
	case <-time.After(patience):
	case <-v.ctx().Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := one.before; known != nil && now.Sub(known.Ended) < countLife {
		return *known // the page says as of when
	}
	return *one
}

// begin gives the count that is under way, or one that ended so short a time ago
// that it still holds, or else a new one, which the caller has to run.
func (c *counts[T]) begin(key string, of int, now time.Time, v *visit) (one *counting[T], begun bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.byKey[key]
	// One that is under way is joined whatever its age: to begin another beside it would only
	// make both slower.
	if known != nil && (known.Ended.IsZero() || now.Sub(known.Ended) < known.life(v)) {
		return known, false
	}
	for id, old := range c.byKey {
		if len(c.byKey) >= mostCounts && !old.Ended.IsZero() {
			delete(c.byKey, id)
		}
	}
	one = &counting[T]{Of: of, Began: now, over: make(chan struct{})}
	// Those under way are bounded as well: whoever opens page after page gets
	// no further count, and not a queue without an end.
	if len(c.byKey) >= mostCounts && known == nil {
		one.Ended, one.Trouble = now, "Too many others are being counted. Read the page again in a while."
		close(one.over)
		return one, false
	}
	// Of a count that failed there are no figures to show meanwhile.
	if c.former && known != nil && known.Trouble == "" {
		one.before = known
	}
	c.byKey[key] = one
	return one, true
}

// life is how long a count that has ended holds for a visit.
func (c *counting[T]) life(v *visit) time.Duration {
	switch {
	case v.page.bare: // the page itself is read again by who wants it counted again
		return math.MaxInt64
	case c.Trouble != "":
		return 0
	case v.form != nil:
		return countLife
	}
	return min(c.Ended.Sub(c.Began), countLife)
}

// run counts, when its turn has come.
func (c *counts[T]) run(ctx context.Context, one *counting[T], clock func() time.Time, how looking[T]) {
	defer close(one.over)
	var found T
	var err error
	select {
	case c.turns <- struct{}{}:
		found, err = safely(ctx, how, func(looked, of int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			one.Looked, one.Of = looked, of
		})
		<-c.turns
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// The one before is let go at the end, or each would hold on to all its predecessors.
	one.Found, one.Ended, one.before = found, clock(), nil
	if err != nil {
		one.Trouble = landfall.UserError("counting accounts", err).Detail
	}
}

// safely keeps a fault of ours to the count it happened in: nobody above would
// catch it behind a page, and the whole service would end.
func safely[T any](ctx context.Context, how looking[T], progress func(looked, of int)) (found T, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("panic: %T", fault)
		}
	}()
	return how(ctx, progress)
}

// behind is a context for what goes on behind a page, until the service ends.
func (v *visit) behind() (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(v.ctx()))
	go func() {
		select {
		case <-v.console.Ending:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}
