package engine

import (
	"context"
	"fmt"
	"time"

	"landfall/internal/lib/admission"
)

// Kind is work that can be done for many callers in one transaction, such as
// staging documents.
type Kind struct {
	run           func(context.Context, *Tx, []*Call) error
	lockWait      *Kind // for calls that ran into a lock
	maxCalls      int   // in a batch
	maxBatches    int   // at the same time
	waitsForLocks bool

	queue   *queue
	queued  *admission.Queue[*Call]
	running int // batches
}

// Call is one caller's work on its way through the queue.
type Call struct {
	Tenant string // whose work it is; tenants take turns
	Key    any    // comparable; calls with the same key run one after the other, in order; nil has no order
	Weight int    // in bytes, roughly
	Work   any    // what the kind's function reads and fills in

	kind     *Kind
	queuedAs *Kind // its kind, or that kind's lockWait
	batch    *callBatch
	item     admission.Item[*Call]
	setAside bool
	state    state
	err      error
	panicked any
	done     chan struct{}

	before, next *Call // with the same key
}

// state is where a call is. Only the queue changes it, under its lock.
type state uint8

const (
	stateQueued  state = iota + 1
	stateBehind        // behind another call with its key
	stateRunning       // taken by a worker
	stateDone          // answered, or its caller left
)

// NewKind declares a kind of work. The function gets the transaction and a batch
// of calls with different keys, and sets the outcome in each; an error applies
// to the whole batch. The function may run more than once and on any goroutine,
// so it must have no effect outside the transaction and the calls. ErrUndone
// keeps the outcomes and rolls back; ErrAgain runs the function once more.
func (db *DB) NewKind(run func(context.Context, *Tx, []*Call) error) *Kind {
	return db.newKind(run, MaxBatch, db.backend.concurrency().batches)
}

// NewLargeKind is NewKind with larger batches on a database server, for many
// small calls: in a larger batch the rows of each call cost less.
func (db *DB) NewLargeKind(run func(context.Context, *Tx, []*Call) error) *Kind {
	c := db.backend.concurrency()
	return db.newKind(run, c.calls, c.batches)
}

// NewGroupKind is NewKind for calls that are already batches.
func (db *DB) NewGroupKind(run func(context.Context, *Tx, []*Call) error) *Kind {
	c := db.backend.concurrency()
	return db.newKind(run, c.groups, c.groupBatches)
}

// NewSerialKind is NewKind for work whose batches all need the same lock: only
// one of them runs at a time.
func (db *DB) NewSerialKind(run func(context.Context, *Tx, []*Call) error) *Kind {
	return db.newKind(run, MaxBatch, 1)
}

// NewSerialGroupKind is NewSerialKind for calls that are already batches.
func (db *DB) NewSerialGroupKind(run func(context.Context, *Tx, []*Call) error) *Kind {
	return db.newKind(run, db.backend.concurrency().groups, 1)
}

func (db *DB) newKind(run func(context.Context, *Tx, []*Call) error, maxCalls, maxBatches int) *Kind {
	return db.queue.newKind(
		&Kind{run: run, maxCalls: maxCalls, maxBatches: maxBatches},
		&Kind{run: run, maxCalls: 1, maxBatches: db.backend.concurrency().lockWaits, waitsForLocks: true},
	)
}

// Do queues a call and waits for its outcome. If the context ends before the
// call is taken, nothing was done. If it ends later, Do still returns the true
// outcome within the limits, or ErrUnknownOutcome.
func (k *Kind) Do(ctx context.Context, c *Call) error {
	if err := ctx.Err(); err != nil {
		return callerGone(err)
	}
	q := k.queue
	c.kind, c.done = k, make(chan struct{})
	if err := q.enter(c); err != nil {
		return err
	}
	timer := time.NewTimer(q.limits.QueueWait)
	defer timer.Stop()
	select {
	case <-c.done:
		return c.outcome()
	case <-ctx.Done():
		if q.leave(c, true) {
			return callerGone(ctx.Err())
		}
	case <-timer.C:
		// A call that was set aside for a lock stays: it was tried already, and
		// without its position it could starve behind new calls.
		if q.leave(c, false) {
			return errBusy
		}
	}
	// A worker has it now, and its work cannot be cancelled: only the sum of the
	// limits below counts.
	timer.Reset(q.limits.served())
	select {
	case <-c.done:
		return c.outcome()
	case <-timer.C:
		if q.leave(c, true) {
			return errLocked
		}
		// The worker is still busy after every limit, and may yet commit.
		return ErrUnknownOutcome
	}
}

// outcome returns the error of a call. A panic continues in the goroutine of the
// caller, who may recover; in a worker it would end the program.
func (c *Call) outcome() error {
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// attempt runs a kind's function on some calls. A panic is returned as an error,
// because it belongs to the callers and not to the worker.
func (k *Kind) attempt(ctx context.Context, t *Tx, calls []*Call) (err error) {
	// An earlier attempt may have left outcomes in the calls.
	for _, c := range calls {
		c.err, c.panicked = nil, nil
	}
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
		}
	}()
	return t.finish(k.run(ctx, t, calls))
}

// panicError is the error of a function that panicked.
type panicError struct{ value any }

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// failAll gives every call of a batch the same error.
func failAll(calls []*Call, err error) {
	for _, c := range calls {
		c.err = err
		if p, ok := err.(*panicError); ok { //nolint:errorlint // it is never wrapped
			c.panicked = p.value
		}
	}
}
