package engine

import (
	"context"
	"time"

	"landfall/internal/lib/admission"
)

// readPool is a pool of read-only connections to a SQLite file.
type readPool struct {
	limiter *admission.Limiter
	conns   chan *sqliteConn // nil: not open yet, or closed after a fault
	options Options
	connect func(context.Context) (*sqliteConn, error)
	closing chan struct{}
}

// newReadPool returns a pool whose connections open when they are first used.
func newReadPool(size int, options Options, connect func(context.Context) (*sqliteConn, error)) *readPool {
	r := &readPool{
		limiter: newReadLimiter(size, options), conns: make(chan *sqliteConn, size),
		options: options, connect: connect, closing: make(chan struct{}),
	}
	for range size {
		r.conns <- nil
	}
	return r
}

// view reads on a goroutine of its own, because a read from a disk that hangs
// cannot be cancelled. The caller gets an answer anyway, and no more goroutines
// are stuck than there are connections.
func (r *readPool) view(ctx context.Context, tenant string, fn func(*Tx) error) error {
	leave, err := r.limiter.Acquire(ctx, admission.Request{Tenant: tenant})
	if err != nil {
		return notAdmitted(ctx, err)
	}
	// The initial error is for a goroutine that ends without a result, for
	// example by runtime.Goexit.
	pending := &pendingRead{done: make(chan struct{}), err: errEnded}
	go func() {
		defer leave()
		defer close(pending.done)
		defer func() { pending.panicked = recover() }()
		pending.err = r.read(ctx, fn)
	}()
	return pending.wait(ctx, r.options.Limits)
}

// newReadLimiter bounds the reads at once, and one tenant's to three quarters.
func newReadLimiter(size int, options Options) *admission.Limiter {
	return admission.NewLimiter(admission.Limits{
		Capacity: int64(size), Share: max(1, int64(size)*3/4), Wait: options.Limits.QueueWait, Refusal: errBusy,
	})
}

// pendingRead is a view that is running.
type pendingRead struct {
	done     chan struct{}
	err      error
	panicked any // continued in the caller
}

// wait returns the result of a view. It stops waiting when the view takes too
// long, and soon after the context has ended: a healthy statement then ends at
// once.
func (g *pendingRead) wait(ctx context.Context, limits Limits) error {
	timer := time.NewTimer(limits.Transaction)
	defer timer.Stop()
	err := errSilent
	for gone := ctx.Done(); ; {
		select {
		case <-g.done:
			if g.panicked != nil {
				panic(g.panicked)
			}
			return g.err
		case <-gone:
			err, gone = callerGone(ctx.Err()), nil
			timer.Reset(limits.BatchLock)
		case <-timer.C:
			return err
		}
	}
}

// read runs fn on a snapshot, which SQLite takes with the first statement.
func (r *readPool) read(ctx context.Context, fn func(*Tx) error) (err error) {
	var h *sqliteConn
	select {
	case <-r.closing:
		return ErrClosed
	case h = <-r.conns: // there is one for every admitted read
	}
	defer func() { r.conns <- h }()
	if h == nil {
		if h, err = r.connect(ctx); err != nil {
			h = nil
			return err
		}
	}
	// A connection that cannot begin or end a transaction is closed.
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
	return t.finish(fn(t))
}

// close waits for the connections, but not for a disk that hangs.
func (r *readPool) close(ctx context.Context) error {
	close(r.closing)
	for range cap(r.conns) {
		select {
		case h := <-r.conns:
			if h != nil {
				_ = h.close() // it only read
			}
		case <-ctx.Done():
			return ErrUnavailable
		}
	}
	return nil
}
