package console

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// countJob is a count that checks very many accounts one by one: what undoing a
// run would do, or why accounts failed. It runs in the background while the page
// shows its progress and then its result.
type countJob[T any] struct {
	Result             T
	Done, Total        int
	StartedAt, EndedAt time.Time // EndedAt is zero while it runs
	Error              string
	of                 int // Total when it was started
	finished           chan struct{}
	previous           *countJob[T] // kept while this job runs
}

// countJobs are the jobs of this replica by key.
type countJobs[T any] struct {
	mu    sync.Mutex
	byKey map[string]*countJob[T]
	slots chan struct{}
	// showPrevious lets a page show the previous result during a recount. It is
	// off where people act on the result.
	showPrevious bool
}

const (
	// maxRunningCounts leaves the database to those who import accounts.
	maxRunningCounts = 2
	// maxCounts limits the jobs that are remembered.
	maxCounts = 100
	// defaultCountWait is how long a page waits for a count before it shows the
	// progress: enough for a few thousand accounts.
	defaultCountWait = limits.ConsoleCountWait
)

func newCountJobs[T any](showPrevious bool) *countJobs[T] {
	return &countJobs[T]{showPrevious: showPrevious, byKey: map[string]*countJob[T]{}, slots: make(chan struct{}, maxRunningCounts)}
}

type countFunc[T any] func(ctx context.Context, progress func(done, total int)) (T, error)

// get returns the state of a job and starts it if needed. It waits a moment, so
// that small counts are finished. Reloading the page counts again, unless
// counting takes long; live updates and refused forms keep the shown result.
func (c *countJobs[T]) get(r *pageRequest, key string, total int, count countFunc[T]) countJob[T] {
	now, wait := r.console.Clock(), r.console.countWait
	if r.form != nil {
		wait = limits.ConsolePage / 2 // only this response keeps what was typed
	}
	job, started := c.start(key, total, now, r)
	// Exactly one caller starts a job, so that a count never runs twice.
	if started {
		ctx, cancel := r.background()
		go func() {
			defer cancel()
			c.run(ctx, job, r.console.Clock, count)
		}()
	}
	// The job continues when the reader leaves.
	select {
	case <-job.finished:
	case <-time.After(wait):
	case <-r.Context().Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if previous := job.previous; previous != nil && now.Sub(previous.EndedAt) < limits.ConsoleCountAge {
		return *previous // the page shows its time
	}
	return *job
}

// start returns the job that runs, or a recent one, or a new one that the caller
// has to run.
func (c *countJobs[T]) start(key string, total int, now time.Time, r *pageRequest) (job *countJob[T], started bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.byKey[key]
	if known != nil && (known.EndedAt.IsZero() || now.Sub(known.EndedAt) < known.maxAge(r, total)) {
		return known, false
	}
	for id, old := range c.byKey {
		if len(c.byKey) >= maxCounts && !old.EndedAt.IsZero() {
			delete(c.byKey, id)
		}
	}
	job = &countJob[T]{Total: total, of: total, StartedAt: now, finished: make(chan struct{})}
	// Running jobs are limited too, so that opening many pages builds no endless queue.
	if len(c.byKey) >= maxCounts && known == nil {
		job.EndedAt, job.Error = now, "Too many counts are running. Reload the page later."
		close(job.finished)
		return job, false
	}
	if c.showPrevious && known != nil && known.Error == "" {
		job.previous = known
	}
	c.byKey[key] = job
	return job, true
}

// maxAge is how long a finished job answers a request.
func (c *countJob[T]) maxAge(r *pageRequest, total int) time.Duration {
	switch {
	// A live page counts again when there is more to count, but spends only a small
	// part of its time with it.
	case r.route.partial && total != c.of && c.Error == "":
		return max(limits.ConsoleLive, 10*c.EndedAt.Sub(c.StartedAt))
	case r.route.partial: // only reloading the page counts again
		return math.MaxInt64
	case c.Error != "":
		return 0
	case r.form != nil:
		return limits.ConsoleCountAge
	}
	return min(c.EndedAt.Sub(c.StartedAt), limits.ConsoleCountAge)
}

// run waits for a slot and counts.
func (c *countJobs[T]) run(ctx context.Context, job *countJob[T], now func() time.Time, count countFunc[T]) {
	defer close(job.finished)
	var result T
	var err error
	select {
	case c.slots <- struct{}{}:
		result, err = callRecovered(ctx, count, func(done, total int) {
			c.mu.Lock()
			defer c.mu.Unlock()
			job.Done, job.Total = done, total
		})
		<-c.slots
	case <-ctx.Done():
		err = ctx.Err()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	// Drop the previous job, or each job would keep all its predecessors.
	job.Result, job.EndedAt, job.previous = result, now(), nil
	if err != nil {
		job.Error = landfall.UserError("counting accounts", err).Detail
	}
}

// callRecovered turns a panic into an error. In a background goroutine nobody
// else would recover it, and the whole service would end.
func callRecovered[T any](ctx context.Context, count countFunc[T], progress func(done, total int)) (result T, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("panic: %T", recovered)
		}
	}()
	return count(ctx, progress)
}
