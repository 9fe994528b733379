package engine

import (
	"context"
	"errors"
	"time"

	"landfall/internal/lib/limits"
)

// sqliteWriter is the only writer to a SQLite file in this process. Concurrent
// batches share a transaction and one wait for the disk; each has a savepoint of
// its own, so that it fails alone.
type sqliteWriter struct {
	options    Options
	connect    func(context.Context) (*sqliteConn, error)
	handle     *sqliteConn                      // nil: to be opened again after a fault
	first      func(context.Context, *Tx) error // nil: done
	mustCommit bool                             // an answer of this group depends on its commit
	done       chan struct{}
}

const (
	maxGroupCalls = 256
)

// newSQLiteWriter starts with a connection that is known to work, and opens
// later ones itself.
func newSQLiteWriter(options Options, connect func(context.Context) (*sqliteConn, error), first *sqliteConn) *sqliteWriter {
	return &sqliteWriter{options: options, connect: connect, handle: first, first: options.First, done: make(chan struct{})}
}

// run serves the queue until that closes. SQLite has one writer at a time: a
// second worker would only wait inside the database, where tenants do not take
// turns.
func (w *sqliteWriter) run(q *queue) {
	defer close(w.done)
	for {
		b := q.next(3) // the last quarter is slow; do not wait for it
		if b == nil {
			return
		}
		w.group(q, b)
	}
}

// group runs a batch and what else is waiting in one transaction, and answers
// all of its callers, however it ends.
func (w *sqliteWriter) group(q *queue, b *callBatch) {
	began := time.Now()
	w.mustCommit = false
	err := w.writeFirst()
	if err == nil {
		err = w.begin()
	}
	var served []*callBatch
	calls, weight := 0, int64(0)
	for b != nil {
		if err == nil {
			err = w.serve(b)
		}
		// It belongs to the group even if serving it failed: every call that was
		// taken must be answered.
		served = append(served, b)
		calls += len(b.calls)
		weight += b.cost
		if err != nil || calls >= maxGroupCalls || weight >= maxBatchBytes || time.Since(began) > limits.GroupCommit {
			break
		}
		b = q.more()
	}
	switch {
	case err != nil:
		w.discard()
	case w.mustCommit:
		err = w.commit()
	default: // every call returned ErrUndone
		err = w.handle.run("ROLLBACK")
	}
	if err != nil && !errors.Is(err, ErrUnavailable) && !errors.Is(err, ErrUnknownOutcome) {
		err = &Fault{kind: faultUnavailable, code: errorCode(err), cause: ErrUnavailable}
	}
	for _, b := range served {
		// An answer may depend on what another call did in the same group, so
		// none counts when the group failed.
		if err != nil {
			failAll(b.calls, err)
		}
		q.finish(b)
	}
}

// writeFirst writes what has to be written before anything else.
func (w *sqliteWriter) writeFirst() error {
	if w.first == nil {
		return nil
	}
	ctx := context.Background()
	if err := w.alone(ctx, func(t *Tx) error { return w.first(ctx, t) }); err != nil {
		return err
	}
	w.first = nil
	return nil
}

// begin begins a transaction. A connection that cannot is closed, unless
// another process is using the file.
func (w *sqliteWriter) begin() (err error) {
	if w.handle == nil {
		ctx, cancel := context.WithTimeout(context.Background(), w.options.Limits.Lock)
		defer cancel()
		if w.handle, err = w.connect(ctx); err != nil {
			w.handle = nil
			return err
		}
	}
	if err = w.handle.run("BEGIN IMMEDIATE"); err != nil && errorCode(err) != sqliteBusy {
		w.discard()
	}
	return err
}

// serve runs a batch in a savepoint, and its calls one by one if it fails. The
// error is the group's.
func (w *sqliteWriter) serve(b *callBatch) error {
	err, failure := w.attempt(b.kind, b.calls)
	if failure != nil || err == nil {
		return failure
	}
	if len(b.calls) == 1 {
		failAll(b.calls, err)
		return nil
	}
	for _, c := range b.calls {
		alone := []*Call{c}
		err, failure := w.attempt(b.kind, alone)
		if failure != nil {
			return failure
		}
		if err != nil {
			failAll(alone, err)
		}
	}
	return nil
}

// attempt runs calls in a savepoint. The first error is theirs, and then nothing
// of them remains; the second is the group's.
func (w *sqliteWriter) attempt(kind *Kind, calls []*Call) (err, failure error) {
	for try := 1; ; try++ {
		if failure = w.handle.run("SAVEPOINT caller"); failure != nil {
			return nil, failure
		}
		t := w.handle.tx(true)
		err = kind.attempt(context.Background(), t, calls)
		// The database itself failed, so the savepoint may be gone: the whole
		// group ends.
		if isFault(err, faultUnavailable) {
			return nil, err
		}
		if err != nil {
			if failure = w.handle.run("ROLLBACK TO caller"); failure != nil {
				return nil, failure
			}
		}
		if failure = w.handle.run("RELEASE caller"); failure != nil {
			return nil, failure
		}
		if errors.Is(err, ErrUndone) {
			return nil, nil
		}
		// A refusal needs a commit as well, because it depends on what was found.
		w.mustCommit = true
		if !errors.Is(err, ErrAgain) || try == maxReruns {
			return err, nil
		}
	}
}

// commit makes a group's work durable. An I/O error does not say whether the
// commit reached the disk, so the mark is looked up over a new connection.
func (w *sqliteWriter) commit() error {
	m := newMark()
	if _, err := w.handle.tx(true).Exec(context.Background(), insertMark(w.options.step), m[:]); err != nil {
		w.discard()
		if errorCode(err) == sqliteFenced {
			return errOutdated
		}
		return err
	}
	err := w.handle.run("COMMIT")
	if err == nil {
		return nil
	}
	w.discard()
	// On a full disk resolve could not write; that the mark is missing can be
	// seen without writing.
	if w.isMissing(m) {
		return unavailable(err) // the connection is closed, so it never will be there
	}
	committed, unknown := m.resolve(w.options.Limits.Resolve, w.alone)
	switch {
	case unknown != nil:
		return unknown
	case committed:
		return nil
	}
	return unavailable(err)
}

// isMissing reports whether a mark is certainly not in the database. It does not
// write, since the disk may be full.
func (w *sqliteWriter) isMissing(m commitMark) bool {
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
func (w *sqliteWriter) alone(_ context.Context, fn func(*Tx) error) error {
	if err := w.begin(); err != nil {
		return err
	}
	t := w.handle.tx(true)
	err := t.finish(fn(t))
	if err == nil {
		err = w.handle.run("COMMIT")
	}
	if err != nil {
		w.discard()
	}
	return err
}

// discard closes a connection whose state is uncertain, which rolls back its
// transaction.
func (w *sqliteWriter) discard() {
	if w.handle == nil {
		return
	}
	_ = w.handle.run("ROLLBACK")
	_ = w.handle.close()
	w.handle = nil
}

// close waits for the worker, but not for a disk that hangs.
func (w *sqliteWriter) close(ctx context.Context) error {
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
