package engine

import (
	"context"
	"time"
)

// readers is a pool of connections to a SQLite file that cannot write.
type readers struct {
	slots   chan *handle // nil: not opened yet, or given up after a fault
	limits  Limits
	connect func(context.Context) (*handle, error)
	closing chan struct{}
}

func newReaders(size int, limits Limits, connect func(context.Context) (*handle, error)) *readers {
	r := &readers{slots: make(chan *handle, size), limits: limits, connect: connect, closing: make(chan struct{})}
	for range size {
		r.slots <- nil
	}
	return r
}

func (r *readers) view(ctx context.Context, fn func(*Tx) error) (err error) {
	h, err := r.take(ctx)
	if err != nil {
		return err
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
		h = h.discard()
		return err
	}
	defer func() {
		if h.run("ROLLBACK") != nil {
			h = h.discard()
		}
	}()
	t := h.tx(false)
	return t.verdict(fn(t))
}

func (h *handle) discard() *handle {
	_ = h.close() // it only read
	return nil
}

func (r *readers) take(ctx context.Context) (*handle, error) {
	select {
	case <-r.closing:
		return nil, ErrClosed
	case h := <-r.slots:
		return h, nil
	default:
	}
	patience := time.NewTimer(r.limits.QueueWait)
	defer patience.Stop()
	select {
	case <-r.closing:
		return nil, ErrClosed
	case <-ctx.Done():
		return nil, left(ctx.Err())
	case <-patience.C:
		return nil, errBusy
	case h := <-r.slots:
		return h, nil
	}
}

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
