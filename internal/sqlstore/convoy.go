package sqlstore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
)

const (
	longestBatch = 64
	// heaviestBatch bounds the bytes of a batch: big documents go alone.
	heaviestBatch = 4 << 20
	// A transaction costs nearly the same for one call as for many, so when a
	// crowd is at the door it pays to let more of it in. Whoever comes alone
	// or with a few never waits.
	crowd  = 8
	gather = time.Millisecond
	// stageLimit ends a batch that hangs.
	stageLimit = 30 * time.Second
)

// convoy collects calls that arrive at the same time and runs each lot of them
// in one transaction with a handful of statements. A lane takes what is there
// when it is free; only in a crowd does it wait a moment for more.
type convoy[W, O any] struct {
	// run does the work of a batch of different keys, sorted, and sets what
	// became of each call. An error is the whole batch's. It may be called
	// again with the same calls.
	run     func(context.Context, []*call[W, O]) error
	queue   chan *call[W, O]
	closing chan struct{}
	lanes   sync.WaitGroup
}

// call is one caller's wish on its way through a lane.
type call[W, O any] struct {
	key     landfall.Key
	weight  int // in bytes, roughly
	wanted  W
	outcome O
	err     error
	taken   atomic.Bool // by a lane, or by the caller who gave up
	done    chan struct{}
}

func newConvoy[W, O any](lanes int, run func(context.Context, []*call[W, O]) error) *convoy[W, O] {
	c := &convoy[W, O]{run: run, queue: make(chan *call[W, O], 4*longestBatch), closing: make(chan struct{})}
	for range lanes {
		c.lanes.Go(c.lane)
	}
	return c
}

// join hands a call to the lanes and waits for what becomes of it.
func (c *convoy[W, O]) join(ctx context.Context, key landfall.Key, weight int, wanted W) (O, error) {
	var none O
	mine := &call[W, O]{key: key, weight: weight, wanted: wanted, done: make(chan struct{})}
	select {
	case <-c.closing:
		return none, errClosed
	case <-ctx.Done():
		return none, sqliteDialect.wrap(ctx.Err())
	case c.queue <- mine:
	}
	select {
	case <-mine.done:
		return mine.outcome, mine.err
	case <-ctx.Done():
	case <-c.closing:
	}
	if mine.taken.CompareAndSwap(false, true) {
		if ctx.Err() == nil {
			return none, errClosed
		}
		return none, sqliteDialect.wrap(ctx.Err())
	}
	// A lane has it: what becomes of it is decided there, within a limit.
	select {
	case <-mine.done:
		return mine.outcome, mine.err
	case <-time.After(stageLimit + settleFor):
		return none, landfall.ErrUnknownOutcome
	}
}

func (c *convoy[W, O]) close() {
	close(c.closing)
	c.lanes.Wait()
}

func (c *convoy[W, O]) lane() {
	var kept []*call[W, O] // twins of a key in the batch before
	last := 0              // how many calls that batch had
	for {
		if len(kept) == 0 {
			select {
			case next := <-c.queue:
				kept = append(kept, next)
			case <-c.closing:
				return
			}
		}
		if last >= crowd && len(c.queue) < longestBatch/2 {
			time.Sleep(gather)
		}
		var batch []*call[W, O]
		batch, kept = c.collect(kept)
		last = len(batch)
		c.serve(batch)
	}
}

// collect adds what waits in the queue. Two calls of one key cannot go in one
// statement, so the later one is kept for the next batch.
func (c *convoy[W, O]) collect(waiting []*call[W, O]) (batch, kept []*call[W, O]) {
	keys := make(map[landfall.Key]bool, longestBatch)
	weight := 0
	add := func(next *call[W, O]) {
		switch {
		case keys[next.key]:
			kept = append(kept, next)
		case next.taken.CompareAndSwap(false, true): // else the caller has left
			keys[next.key] = true
			weight += next.weight
			batch = append(batch, next)
		}
	}
	for _, next := range waiting {
		add(next)
	}
	for len(batch)+len(kept) < longestBatch && weight < heaviestBatch {
		select {
		case next := <-c.queue:
			add(next)
		default:
			return batch, kept
		}
	}
	return batch, kept
}

// serve runs a batch and answers its callers.
func (c *convoy[W, O]) serve(batch []*call[W, O]) {
	if len(batch) == 0 {
		return
	}
	// One order for everybody, so that two lanes never wait for each other.
	slices.SortFunc(batch, func(a, b *call[W, O]) int { return compareKeys(a.key, b.key) })
	ctx, cancel := context.WithTimeout(context.Background(), stageLimit)
	defer cancel()
	err := c.run(ctx, batch)
	if err != nil && len(batch) > 1 && !errors.Is(err, landfall.ErrUnavailable) && !errors.Is(err, landfall.ErrUnknownOutcome) {
		// One of them is at fault: the others must not suffer for it.
		for _, one := range batch {
			c.serve([]*call[W, O]{one})
		}
		return
	}
	for _, one := range batch {
		if err != nil {
			one.err = err
		}
		if one.err != nil {
			var none O
			one.outcome = none
		}
		close(one.done)
	}
}

func compareKeys(a, b landfall.Key) int {
	if order := strings.Compare(a.Supplier, b.Supplier); order != 0 {
		return order
	}
	return strings.Compare(a.External, b.External)
}

// unsettled is what of a batch has no answer yet, in the order of the batch.
type unsettled[W, O any] struct {
	batch []*call[W, O]
	byKey map[landfall.Key]*call[W, O]
}

func unsettle[W, O any](batch []*call[W, O]) *unsettled[W, O] {
	open := &unsettled[W, O]{batch: batch, byKey: make(map[landfall.Key]*call[W, O], len(batch))}
	for _, one := range batch {
		one.err = nil
		open.byKey[one.key] = one
	}
	return open
}

// args gives the parameters of every open call, padded to a size of batch.
func (u *unsettled[W, O]) args(width int, each func([]any, *call[W, O]) []any) (size int, args []any) {
	size = sizeFor(len(u.byKey))
	args = make([]any, 0, width*size)
	for _, one := range u.batch {
		if u.byKey[one.key] == one {
			args = each(args, one)
		}
	}
	return size, pad(args, width*size)
}

// settle sets what became of a call.
func (u *unsettled[W, O]) settle(one *call[W, O], outcome O) {
	one.outcome = outcome
	delete(u.byKey, one.key)
}
