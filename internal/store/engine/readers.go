package engine

import (
	"context"
	"time"

	"landfall/internal/lib/admission"
)

// readers is a pool of connections to a SQLite file that cannot write.
type readers struct {
	turns   *admission.Limiter
	slots   chan *handle // nil: not opened yet, or given up after a fault
	options Options
	connect func(context.Context) (*handle, error)
	closing chan struct{}
}

// newReaders makes the places; a connection is opened when its place is first
// used.
func newReaders(size int, options Options, connect func(context.Context) (*handle, error)) *readers {
	r := &readers{
		turns: readTurns(size, options), slots: make(chan *handle, size),
		options: options, connect: connect, closing: make(chan struct{}),
	}
	for range size {
		r.slots <- nil
	}
	return r
}

// view reads on a goroutine of its own: a disk that hangs takes whoever asks it
// along, and no context ends that. The caller is answered all the same, and as
// many are stuck as there are places.
func (r *readers) view(ctx context.Context, tenant string, fn func(*Tx) error) error {
	leave, err := r.turns.Acquire(ctx, admission.Request{Tenant: tenant})
	if err != nil {
		return turnedAway(ctx, err)
	}
	// The error stands from the start for a goroutine that ends without an
	// answer, as one does that calls runtime.Goexit.
	glance := &glance{done: make(chan struct{}), err: errEnded}
	go func() {
		defer leave()
		defer close(glance.done)
		defer func() { glance.panicked = recover() }()
		glance.err = r.read(ctx, fn)
	}()
	if r.options.planted == waitsForDisk {
		<-glance.done
	}
	return glance.wait(ctx, r.options.Limits)
}

// readTurns lets so many read at once.
func readTurns(size int, options Options) *admission.Limiter {
	limits := admission.Limits{Capacity: int64(size), Share: max(1, int64(size)*3/4), Wait: options.Limits.QueueWait, Refusal: errBusy}
	if options.planted == readsUnordered {
		limits.Share = 0
	}
	return admission.NewLimiter(limits)
}

// glance is a view under way.
type glance struct {
	done     chan struct{}
	err      error
	panicked any // it belongs to the caller
}

// wait gives what became of a view, or gives it up: when it takes too long, and
// soon after its caller left. A healthy statement ends with its caller at once.
func (g *glance) wait(ctx context.Context, limits Limits) error {
	patience := time.NewTimer(limits.Transaction)
	defer patience.Stop()
	given := errSilent
	for gone := ctx.Done(); ; {
		select {
		case <-g.done:
			if g.panicked != nil {
				panic(g.panicked)
			}
			return g.err
		case <-gone:
			given, gone = left(ctx.Err()), nil
			patience.Reset(limits.BatchLock)
		case <-patience.C:
			return given
		}
	}
}

// read runs fn over a snapshot on one connection. SQLite begins it with the
// first statement, which is why nothing else may come between.
func (r *readers) read(ctx context.Context, fn func(*Tx) error) (err error) {
	var h *handle
	select {
	case <-r.closing:
		return ErrClosed
	case h = <-r.slots: // whoever has a turn finds one
	}
	defer func() { r.slots <- h }()
	if h == nil {
		if h, err = r.connect(ctx); err != nil {
			h = nil
			return err
		}
	}
	// A connection that cannot begin or end a transaction is given up.
	if err := h.run("BEGIN"); err != nil {
		_ = h.close() // it only read
		h = nil
		return err
	}
	defer func() {
		if h.run("ROLLBACK") != nil {
			_ = h.close()
			h = nil
		}
	}()
	t := h.tx(false)
	return t.verdict(fn(t))
}

// close waits for the places to come back, but not for a disk that hangs.
func (r *readers) close(ctx context.Context) error {
	close(r.closing)
	for range cap(r.slots) {
		select {
		case h := <-r.slots:
			if h != nil {
				_ = h.close() // it only read
			}
		case <-ctx.Done():
			return ErrUnavailable
		}
	}
	return nil
}
