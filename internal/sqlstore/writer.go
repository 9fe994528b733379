package sqlstore

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"landfall"
)

// writer is the one place that writes to a SQLite file in this process. What
// callers want at the same time shares one transaction and one wait for the
// disk; each one's work stands in its own savepoint, so that it fails alone.
type writer struct {
	connect func(context.Context) (*handle, error)
	handle  *handle // nil: to be opened again after a fault
	queue   chan *job
	closing chan struct{}
	done    chan struct{}
}

const (
	longestGroup = 256
	// commitGrace is how long a caller whose patience has ended still waits
	// for the end of a transaction that holds its work.
	commitGrace = 20 * time.Second
)

// job is one caller's update on its way through the writer. The function runs
// on the caller's own goroutine: its panics are the caller's, and the writer
// only waits for it.
type job struct {
	mustWrite bool
	taken     atomic.Bool   // by the writer, or by the caller who gave up
	turn      chan *session // the writer lends the transaction
	returned  chan error    // the caller gives it back
	result    chan error    // the writer says what became of it
	err       error         // what the caller's function answered
	wrote     bool
}

func newWriter(connect func(context.Context) (*handle, error), first *handle) *writer {
	w := &writer{
		connect: connect, handle: first,
		queue: make(chan *job, longestGroup), closing: make(chan struct{}), done: make(chan struct{}),
	}
	go w.run()
	return w
}

// errLeft stands for a function that ended without an answer, by a panic.
var errLeft = errors.New("the update did not finish")

func (w *writer) update(ctx context.Context, mustWrite bool, fn func(*session) error) error {
	j := &job{mustWrite: mustWrite, turn: make(chan *session), returned: make(chan error, 1), result: make(chan error, 1)}
	select {
	case <-w.closing:
		return errClosed
	case <-ctx.Done():
		return sqliteDialect.wrap(ctx.Err())
	case w.queue <- j:
	}
	select {
	case s := <-j.turn:
		w.lend(j, s, fn)
	case err := <-j.result:
		return err
	case <-w.done:
		return errClosed // it came into the queue when nobody looked any more
	case <-ctx.Done():
		if j.taken.CompareAndSwap(false, true) {
			return sqliteDialect.wrap(ctx.Err())
		}
		select {
		case s := <-j.turn:
			w.lend(j, s, func(*session) error { return sqliteDialect.wrap(ctx.Err()) })
		case err := <-j.result:
			return err
		}
	}
	select {
	case err := <-j.result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-j.result:
		return err
	case <-time.After(commitGrace):
		return landfall.ErrUnknownOutcome
	}
}

// lend runs fn with the transaction and gives it back however fn ends.
func (w *writer) lend(j *job, s *session, fn func(*session) error) {
	err := errLeft
	defer func() { j.returned <- err }()
	err = fn(s)
}

func (w *writer) run() {
	defer close(w.done)
	for {
		select {
		case j := <-w.queue:
			w.group(j)
		case <-w.closing:
			w.refuse(errClosed)
			return
		}
	}
}

// refuse answers everybody who waits.
func (w *writer) refuse(err error) {
	for j := w.next(); j != nil; j = w.next() {
		j.result <- err
	}
}

// next takes the next job whose caller is still there, without waiting.
func (w *writer) next() *job {
	for {
		select {
		case j := <-w.queue:
			if j.taken.CompareAndSwap(false, true) {
				return j
			}
		default:
			return nil
		}
	}
}

// group runs a job and everything that queues up meanwhile in one transaction.
func (w *writer) group(j *job) {
	if !j.taken.CompareAndSwap(false, true) {
		if j = w.next(); j == nil {
			return
		}
	}
	if err := w.begin(); err != nil {
		j.result <- err
		// The others would wait just as long for nothing.
		w.refuse(err)
		return
	}
	var jobs []*job
	var err error
	wrote := false
	for ; j != nil && err == nil; j = w.next() {
		jobs = append(jobs, j)
		err = w.serve(j)
		wrote = wrote || j.wrote
		if len(jobs) == longestGroup {
			break
		}
	}
	switch {
	case err != nil:
		w.abandon()
	case wrote:
		err = w.commit()
	default:
		err = w.handle.run("ROLLBACK")
	}
	for _, j := range jobs {
		// When the group fell, an answer may rest on what another had done in
		// it, so nobody's own answer counts any more.
		if err != nil {
			j.err = err
		}
		j.result <- j.err
	}
}

func (w *writer) begin() (err error) {
	if w.handle == nil {
		ctx, cancel := context.WithTimeout(context.Background(), settleFor)
		defer cancel()
		if w.handle, err = w.connect(ctx); err != nil {
			w.handle = nil
			return err
		}
	}
	if err = w.handle.run("BEGIN IMMEDIATE"); err != nil {
		var busy *fault
		if !errors.As(err, &busy) || busy.code != sqliteBusy {
			w.abandon()
		}
	}
	return err
}

// serve lends the transaction to one caller. The error is of the group.
func (w *writer) serve(j *job) error {
	if err := w.handle.run("SAVEPOINT caller"); err != nil {
		return err
	}
	s := w.handle.session(true)
	j.turn <- s
	err := <-j.returned
	fallen := is(s.fatal, away)
	j.wrote = s.wrote || j.mustWrite
	if err = s.verdict(err); fallen {
		return err
	}
	if err != nil {
		j.err, j.wrote = err, false
		if err := w.handle.run("ROLLBACK TO caller"); err != nil {
			return err
		}
	}
	return w.handle.run("RELEASE caller")
}

// commit makes a group's work durable. An error on the way to the disk says
// nothing about whether it got there, so the mark is looked up with a new
// connection.
func (w *writer) commit() error {
	m := newMark()
	if err := m.leave(context.Background(), &tx{view{w.handle.session(true)}}); err != nil {
		w.abandon()
		return err
	}
	err := w.handle.run("COMMIT")
	if err == nil {
		return nil
	}
	w.abandon()
	var full *fault
	if errors.As(err, &full) && full.code == sqliteFull {
		return err // the last page of a commit is its seal, and there was no room for it
	}
	committed, unknown := m.settle(context.Background(), w.alone)
	switch {
	case unknown != nil:
		return unknown
	case committed:
		return nil
	}
	return errors.Join(landfall.ErrUnavailable, err)
}

// alone runs fn in a transaction of its own, without a mark.
func (w *writer) alone(_ context.Context, fn func(*tx) error) error {
	if err := w.begin(); err != nil {
		return err
	}
	s := w.handle.session(true)
	err := s.verdict(fn(&tx{view{s}}))
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
	_ = w.handle.run("ROLLBACK")
	_ = w.handle.close()
	w.handle = nil
}

func (w *writer) close() error {
	close(w.closing)
	<-w.done
	if w.handle == nil {
		return nil
	}
	return w.handle.close()
}
