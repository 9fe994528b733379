package engine

import (
	"context"
	"errors"
	"time"
)

// writer is the one lane that writes to a SQLite file in this process. What
// callers want at the same time shares one transaction and one wait for the
// disk; each batch of work stands in a savepoint of its own, so that it fails
// alone.
type writer struct {
	options Options
	connect func(context.Context) (*handle, error)
	handle  *handle // nil: to be opened again after a fault
	owes    bool    // an answer of this group rests on its commit
	done    chan struct{}
}

const (
	longestGroup = 256
	// groupTime is when a group goes to the disk although more is waiting.
	groupTime = 20 * time.Millisecond
)

// newWriter begins with a connection that is known to work; later ones it
// opens itself.
func newWriter(options Options, connect func(context.Context) (*handle, error), first *handle) *writer {
	return &writer{options: options, connect: connect, handle: first, done: make(chan struct{})}
}

// lane serves the queue until that closes. There is one, since SQLite lets
// one write at a time: a second would only wait inside the database, where
// nobody takes turns.
func (w *writer) lane(q *queue) {
	defer close(w.done)
	for {
		b := q.next(3) // the last quarter is slow, and others need not wait for it
		if b == nil {
			return
		}
		w.group(q, b)
	}
}

// group runs a batch and what else is waiting in one transaction, and answers
// every one of its callers, however it ends.
func (w *writer) group(q *queue, b *batch) {
	began := time.Now()
	w.owes = false
	err := w.begin()
	var served []*batch
	calls, weight := 0, int64(0)
	for b != nil {
		if err == nil {
			err = w.serve(b)
		}
		// It belongs to the group from here on, also when serving it failed:
		// whoever was taken must be answered on every path.
		served = append(served, b)
		calls += len(b.calls)
		weight += b.cost
		if err != nil || calls >= longestGroup || weight >= heaviestBatch || time.Since(began) > groupTime {
			break
		}
		b = q.more()
	}
	switch {
	case err != nil:
		w.abandon()
	case w.owes:
		err = w.commit()
	default: // all of it was undone on purpose
		err = w.handle.run("ROLLBACK")
	}
	if err != nil && w.options.planted == forgetsJob {
		served = served[:len(served)-1]
	}
	if err != nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnknownOutcome) {
		err = &Fault{kind: away, code: code(err), cause: ErrUnavailable} // it is nobody's own fault
	}
	for _, b := range served {
		// When the group fell, an answer may rest on what another had done in
		// it, so nobody's own answer counts any more.
		if err != nil {
			fail(b.calls, err)
		}
		q.finish(b)
	}
}

// begin opens a transaction. A connection that cannot is given up, unless the
// file is merely in use by another process.
func (w *writer) begin() (err error) {
	if w.handle == nil {
		ctx, cancel := context.WithTimeout(context.Background(), w.options.Limits.Lock)
		defer cancel()
		if w.handle, err = w.connect(ctx); err != nil {
			w.handle = nil
			return err
		}
	}
	if err = w.handle.run("BEGIN IMMEDIATE"); err != nil && code(err) != sqliteBusy {
		w.abandon()
	}
	return err
}

// serve runs a batch in a savepoint, and its calls one by one when it fails.
// The error is of the group.
func (w *writer) serve(b *batch) error {
	err, trouble := w.attempt(b.kind, b.calls)
	if trouble != nil || err == nil {
		return trouble
	}
	if len(b.calls) == 1 {
		fail(b.calls, err)
		return nil
	}
	for _, c := range b.calls {
		alone := []*Call{c}
		err, trouble := w.attempt(b.kind, alone)
		if trouble != nil {
			return trouble
		}
		if err != nil {
			fail(alone, err)
		}
	}
	return nil
}

// attempt runs calls in a savepoint. The first error is theirs, and nothing of
// them remains; the second is the group's.
func (w *writer) attempt(kind *Kind, calls []*Call) (err, trouble error) {
	for try := 1; ; try++ {
		if trouble = w.handle.run("SAVEPOINT caller"); trouble != nil {
			return nil, trouble
		}
		t := w.handle.tx(true)
		err = kind.attempt(context.Background(), t, calls)
		// The database itself is in trouble, so the savepoint may not be there
		// any more: the whole group ends.
		if is(err, away) {
			return nil, err
		}
		if err != nil {
			if trouble = w.handle.run("ROLLBACK TO caller"); trouble != nil {
				return nil, trouble
			}
		}
		if trouble = w.handle.run("RELEASE caller"); trouble != nil {
			return nil, trouble
		}
		if errors.Is(err, ErrUndone) {
			return nil, nil
		}
		// A refusal owes a commit as well: it rests on what was found.
		w.owes = w.owes || w.options.planted != uncommitted || t.changed > 0
		if !errors.Is(err, ErrAgain) || try == longestAgain {
			return err, nil
		}
	}
}

// commit makes a group's work durable. An error on the way to the disk says
// nothing about whether it got there, so the mark is looked up with a new
// connection.
func (w *writer) commit() error {
	m := newMark()
	if _, err := w.handle.tx(true).Exec(context.Background(), leaving, m[:]); err != nil {
		w.abandon()
		return err
	}
	err := w.handle.run("COMMIT")
	if err == nil {
		return nil
	}
	w.abandon()
	// A disk that is full would let nobody write a mark to settle with; that
	// it is not there can be seen without writing.
	if w.lacks(m) {
		return errors.Join(ErrUnavailable, err) // with its connection closed it never can be there
	}
	committed, unknown := m.settle(w.options.Limits.Settle, w.alone)
	switch {
	case unknown != nil:
		return unknown
	case committed:
		return nil
	}
	return errors.Join(ErrUnavailable, err)
}

// lacks looks for a mark without writing, which a full disk would not allow,
// and tells whether it is surely not there.
func (w *writer) lacks(m mark) bool {
	ctx, cancel := context.WithTimeout(context.Background(), w.options.Limits.Lock)
	defer cancel()
	h, err := w.connect(ctx)
	if err != nil {
		return false
	}
	defer func() { _ = h.close() }() // it only read
	var one int
	return errors.Is(h.tx(true).One(ctx, `SELECT 1 FROM commit_mark WHERE id = $1`, []any{m[:]}, []any{&one}), ErrNotFound)
}

// alone runs fn in a transaction of its own, without a mark.
func (w *writer) alone(_ context.Context, fn func(*Tx) error) error {
	if err := w.begin(); err != nil {
		return err
	}
	t := w.handle.tx(true)
	err := t.verdict(fn(t))
	if err == nil {
		err = w.handle.run("COMMIT")
	}
	if err != nil {
		w.abandon()
	}
	return err
}

// abandon gives up a connection whose state is uncertain. Closing it rolls
// back what it had begun.
func (w *writer) abandon() {
	if w.handle == nil {
		return
	}
	_ = w.handle.run("ROLLBACK")
	_ = w.handle.close()
	w.handle = nil
}

// close waits for the lane, but not for a disk that hangs.
func (w *writer) close(ctx context.Context) error {
	select {
	case <-w.done:
	case <-ctx.Done():
		return ErrUnavailable
	}
	if w.handle == nil {
		return nil
	}
	return w.handle.close()
}
