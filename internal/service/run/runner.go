// Package run contains everything about runs: what callers can do with them, when
// they start, stop and end, and the workers that create their accounts slice by
// slice. Every replica has one Runner. Replicas share runs through the leases of
// the store and do not know of each other.
package run

import (
	"context"
	"log/slog"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
	"landfall/internal/service/intake"
)

// Options configures a Runner.
type Options struct {
	Logger *slog.Logger
	// Lease is how long a slice stays with a worker that does not renew it; 60 s
	// by default.
	Lease time.Duration
	// Workers is how many slices are worked on concurrently; twice the number of
	// processors by default.
	Workers int
	// Interactive records interactive calls. While there are any, runs yield to
	// them but never stop. nil means that there are none.
	Interactive *admission.Activity
	// Created is told how many accounts were created; nil is told nothing.
	Created func(accounts int)
}

const (
	// shutdownGrace is how long a batch may continue after the program was asked to
	// stop.
	shutdownGrace = limits.RunShutdown
)

// Store contains the store methods that a runner needs: runs and their slices.
type Store interface {
	landfall.Transactor
	landfall.RunQueue
	For(caller landfall.Caller) landfall.Store
}

// Runner starts, advances and works on runs.
type Runner struct {
	store   Store
	intake  *intake.Service
	log     *slog.Logger
	lease   time.Duration
	workers int
	wakeups chan struct{}

	interactive *admission.Activity
	turns       *admission.Limiter // while there are interactive calls

	mu       sync.Mutex
	active   map[string]*activeRun // the runs that workers may take slices of
	changed  chan struct{}         // closed when active changes
	choices  sync.WaitGroup
	choosing map[string]bool

	onCreated func(accounts int)

	busy                                      atomic.Int64
	live                                      atomic.Int64
	created, dryRun, failed, refused, retried atomic.Int64
}

// activeRun is a run that this replica works on.
type activeRun struct {
	id           string
	organisation string    // that it acts for
	workers      int       // working on it
	pausedUntil  time.Time // it had no slice to take
	takenAt      time.Time // when a worker last took a slice
}

// New returns a runner over a store. It creates accounts through the intake
// service.
func New(store Store, service *intake.Service, options Options) *Runner {
	if options.Lease <= 0 {
		options.Lease = limits.RunLease
	}
	if options.Workers <= 0 {
		options.Workers = 2 * runtime.GOMAXPROCS(0)
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Interactive == nil {
		options.Interactive = new(admission.Activity)
	}
	if options.Created == nil {
		options.Created = func(int) {}
	}
	return &Runner{
		onCreated: options.Created,
		store:     store, intake: service, log: options.Logger, lease: options.Lease, workers: options.Workers,
		interactive: options.Interactive, turns: newTurns(),
		wakeups: make(chan struct{}, 1), active: map[string]*activeRun{}, changed: make(chan struct{}), choosing: map[string]bool{},
	}
}

// Wake makes Run check the runs now. It never blocks.
func (r *Runner) Wake() {
	select {
	case r.wakeups <- struct{}{}:
	default: // it will check anyway
	}
}

// Run works on runs until the context ends. Workers finish the batch they have
// begun and return their slices.
func (r *Runner) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range r.workers {
		workers.Go(func() { r.work(ctx) })
	}
	for ctx.Err() == nil {
		r.poll(ctx)
		select {
		case <-r.wakeups:
		case <-time.After(limits.RunPoll):
		case <-ctx.Done():
		}
	}
	workers.Wait()
	r.choices.Wait()
}

// poll advances every live run and tells workers which runs have work.
func (r *Runner) poll(ctx context.Context) {
	runs, advance, err := r.liveRuns(ctx)
	if err != nil {
		return // the database is unavailable; its own callers report that
	}
	r.live.Store(int64(len(runs)))
	running := map[string]string{}
	for i := range runs {
		run := &runs[i]
		if advance[i] {
			advanced, err := r.advance(ctx, r.storeFor(run.ActsFor.Organisation), run.ID)
			if err != nil {
				continue // the next poll tries again
			}
			run = &advanced
		}
		switch {
		case run.Stopping():
		case run.State == landfall.RunWaiting && run.Due() && !run.Chosen:
			r.choose(ctx, *run)
		case run.State == landfall.RunRunning:
			running[run.ID] = run.ActsFor.Organisation
		}
	}
	r.setActive(running)
}

func (r *Runner) liveRuns(ctx context.Context) (runs []landfall.Run, advance []bool, err error) {
	err = r.store.View(ctx, func(view landfall.View) (err error) {
		if runs, err = view.LiveRuns(ctx); err != nil {
			return err
		}
		advance = make([]bool, len(runs))
		for i, run := range runs {
			if advance[i], err = NeedsAdvance(ctx, view, run); err != nil {
				return err
			}
		}
		return nil
	})
	return runs, advance, err
}

// setActive replaces the runs that workers may take slices of.
func (r *Runner) setActive(running map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id := range r.active {
		if _, still := running[id]; !still {
			delete(r.active, id)
		}
	}
	for id, organisation := range running {
		if r.active[id] == nil {
			r.active[id] = &activeRun{id: id, organisation: organisation}
		}
	}
	r.notifyWorkers()
}

// notifyWorkers wakes workers that wait for a slice. The caller holds mu.
func (r *Runner) notifyWorkers() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// choose chooses the accounts of a run in the background, once at a time.
func (r *Runner) choose(ctx context.Context, run landfall.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.choosing[run.ID] {
		return
	}
	r.choosing[run.ID] = true
	r.choices.Go(func() {
		defer func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			delete(r.choosing, run.ID)
			r.Wake()
		}()
		for ctx.Err() == nil {
			done, err := r.storeFor(run.ActsFor.Organisation).ChooseRun(ctx, run.ID)
			if err != nil {
				r.log.Warn("cannot choose the accounts of a run; trying again", "run", run.ID, "error", err)
				sleep(ctx, limits.RunPoll)
				return
			}
			if done || r.stopped(ctx, run.ID) {
				return
			}
		}
	})
}

// stopped reports whether a run whose accounts are being chosen was stopped.
func (r *Runner) stopped(ctx context.Context, id string) bool {
	stopped := true
	err := r.store.View(ctx, func(view landfall.View) error {
		run, err := view.Run(ctx, id)
		stopped = run.State != landfall.RunWaiting || run.Stopping()
		return err
	})
	return err != nil || stopped
}

// storeFor returns the store for the runs of an organisation, which take turns
// with everything else, including the organisation's own interactive calls.
func (r *Runner) storeFor(organisation string) landfall.Store {
	return r.store.For(landfall.Caller{Organisation: organisation, Priority: landfall.RunPriority})
}

// sleep waits for a duration or until the context ends.
func sleep(ctx context.Context, length time.Duration) {
	select {
	case <-time.After(length):
	case <-ctx.Done():
	}
}
