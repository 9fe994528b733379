// Package conductor takes runs forward: it has their accounts chosen, lets
// workers create them slice by slice, and stops, resumes and ends runs when it
// is time. Every replica has one, and all of them share the same runs through
// the leases that the store gives; none knows of the others.
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
	"landfall/internal/service/intake"
)

// Options says how a conductor works.
type Options struct {
	Logger *slog.Logger
	// Lease is how long a slice stays with a worker who says nothing; 60 s by
	// default.
	Lease time.Duration
	// Lanes is how many slices are worked on side by side; twice the number of
	// processors by default.
	Lanes int
	// Company says that single calls have come of late: runs then take what
	// these leave, but never nothing. Nobody ever comes by default.
	Company func() bool
}

const (
	defaultLease = time.Minute
	// lookEvery is how often the runs are looked at, unless somebody says that
	// there is something to see.
	lookEvery = 500 * time.Millisecond
	// lastBatch is how long work that was begun may go on after the end of the
	// program was asked for.
	lastBatch = 10 * time.Second
)

// Store is what a conductor needs of a store: the slices of runs, and looks at
// which runs there are.
type Store interface {
	landfall.Transactor
	landfall.RunQueue
}

// Conductor takes runs forward.
type Conductor struct {
	store Store
	desk  *intake.Desk
	log   *slog.Logger
	lease time.Duration
	lanes int
	nudge chan struct{}

	company func() bool
	turns   *admission.Limiter // in company

	mu       sync.Mutex
	playing  map[string]*part // the runs that workers may take from
	changed  chan struct{}    // closed when there is something new in it
	choices  sync.WaitGroup
	choosing map[string]bool

	busy                                atomic.Int64
	live                                atomic.Int64
	succeeded, failed, refused, retried atomic.Int64
}

// part is what this replica does of one run.
type part struct {
	id           string
	organisation string    // it acts for
	lanes        int       // workers on it
	until        time.Time // nothing was to be had before
	last         time.Time // when a worker last took something
}

// New gives a conductor over a store.
func New(store Store, desk *intake.Desk, options Options) *Conductor {
	if options.Lease <= 0 {
		options.Lease = defaultLease
	}
	if options.Lanes <= 0 {
		options.Lanes = 2 * runtime.GOMAXPROCS(0)
	}
	if options.Logger == nil {
		options.Logger = slog.New(slog.DiscardHandler)
	}
	if options.Company == nil {
		options.Company = func() bool { return false }
	}
	return &Conductor{
		company: options.Company, turns: newTurns(),
		store: store, desk: desk, log: options.Logger, lease: options.Lease, lanes: options.Lanes,
		nudge: make(chan struct{}, 1), playing: map[string]*part{}, changed: make(chan struct{}), choosing: map[string]bool{},
	}
}

// Wake says that there is something to do. It never waits.
func (c *Conductor) Wake() {
	select {
	case c.nudge <- struct{}{}:
	default: // it knows
	}
}

// Run takes runs forward until the context ends. Workers finish what they have
// begun and give back what they have not.
func (c *Conductor) Run(ctx context.Context) {
	var workers sync.WaitGroup
	for range c.lanes {
		workers.Go(func() { c.work(ctx) })
	}
	for ctx.Err() == nil {
		c.look(ctx)
		select {
		case <-c.nudge:
		case <-time.After(lookEvery):
		case <-ctx.Done():
		}
	}
	workers.Wait()
	c.choices.Wait()
}

// look brings every live run to the state it should be in, and tells workers
// where there is work.
func (c *Conductor) look(ctx context.Context) {
	runs, restless, err := c.survey(ctx)
	if err != nil {
		return // the database is away, and whoever needs it says so
	}
	c.live.Store(int64(len(runs)))
	playing := map[string]string{}
	for i := range runs {
		run := &runs[i]
		if restless[i] {
			tended, err := c.desk.TendRun(behalf(ctx, run.ActsFor.Organisation), run.ID)
			if err != nil {
				continue // the next look finds it again
			}
			run = &tended
		}
		switch {
		case run.Stopping():
		case run.State == landfall.RunWaiting && run.Due() && !run.Chosen:
			c.choose(ctx, *run)
		case run.State == landfall.RunRunning:
			playing[run.ID] = run.ActsFor.Organisation
		}
	}
	c.announce(playing)
}

// survey reads the live runs, and about which of them there is something to do.
func (c *Conductor) survey(ctx context.Context) ([]landfall.Run, []bool, error) {
	var runs []landfall.Run
	var restless []bool
	err := c.store.View(ctx, func(view landfall.View) (err error) {
		if runs, err = view.LiveRuns(ctx); err != nil {
			return err
		}
		restless = make([]bool, len(runs))
		for i, run := range runs {
			if restless[i], err = c.desk.Restless(ctx, view, run); err != nil {
				return err
			}
		}
		return nil
	})
	return runs, restless, err
}

// announce replaces the runs that workers may take from.
func (c *Conductor) announce(running map[string]string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.playing {
		if _, still := running[id]; !still {
			delete(c.playing, id)
		}
	}
	for id, organisation := range running {
		if c.playing[id] == nil {
			c.playing[id] = &part{id: id, organisation: organisation}
		}
	}
	close(c.changed)
	c.changed = make(chan struct{})
}

// choose has the accounts of a run chosen in the background, once at a time.
func (c *Conductor) choose(ctx context.Context, run landfall.Run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.choosing[run.ID] {
		return
	}
	c.choosing[run.ID] = true
	c.choices.Go(func() {
		defer func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.choosing, run.ID)
			c.Wake()
		}()
		for ctx.Err() == nil {
			done, err := c.store.ChooseRun(behalf(ctx, run.ActsFor.Organisation), run.ID)
			if err != nil {
				c.log.Warn("the accounts of a run could not be chosen yet", "run", run.ID, "error", err)
				pause(ctx, lookEvery)
				return
			}
			if done || c.stopped(ctx, run.ID) {
				return
			}
		}
	})
}

// stopped reports whether a run is to be left alone.
func (c *Conductor) stopped(ctx context.Context, id string) bool {
	stopped := true
	err := c.store.View(ctx, func(view landfall.View) error {
		run, err := view.Run(ctx, id)
		stopped = run.State != landfall.RunWaiting || run.Stopping()
		return err
	})
	return err != nil || stopped
}

// behalf lets the runs of an organisation take turns with everything else, its
// own single calls included.
func behalf(ctx context.Context, organisation string) context.Context {
	return landfall.OnBehalf(ctx, organisation+"\x00runs")
}

// pause waits, but not longer than the context.
func pause(ctx context.Context, long time.Duration) {
	select {
	case <-time.After(long):
	case <-ctx.Done():
	}
}
