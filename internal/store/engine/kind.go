package engine

import (
	"context"
	"fmt"
	"time"
)

// Kind is one sort of work that can be done for many callers in one
// transaction, such as keeping documents.
type Kind struct {
	db      *DB
	run     func(context.Context, *Tx, []*Call) error
	alone   *Kind // for calls that found a lock in their way
	most    int   // calls in a batch
	lanes   int   // batches at the same time
	running int
	patient bool // it waits for locks as long as it may
}

// Call is one caller's work on its way through the queue.
type Call struct {
	Tenant string // whose work it is: tenants take turns
	Key    string // calls of one key run one after the other, in order; "" has no order
	Weight int    // in bytes, roughly
	Work   any    // what the kind's function reads and fills in

	kind     *Kind
	at       *Kind // where it waits: its kind, or alone
	in       *batch
	home     *tenant
	cost     int64
	arrived  time.Time
	aside    bool
	state    state
	err      error
	panicked any
	done     chan struct{}

	before, next *Call // of the same key
	prior, later *Call // in its line
}

// state is where a call is. Only the queue changes it, under its lock.
type state uint8

const (
	waiting state = iota + 1 // in a line
	behind                   // another call of its key
	taken                    // by a lane
	gone                     // answered, or its caller left
)

// Join declares a kind of work. The function gets the transaction and a batch
// of calls of different keys, and says in each what became of it; an error is
// the whole batch's. It may run more than once and on any goroutine, so it must
// have no effect outside the transaction and the calls. ErrUndone keeps the
// answers and leaves nothing in the database; ErrAgain runs it once more.
func (db *DB) Join(run func(context.Context, *Tx, []*Call) error) *Kind {
	return db.kind(run, LongestBatch, db.machine.share().batches)
}

// JoinMany is Join for work of which a server takes more at once: the rows of
// many small calls cost it less each in a longer batch.
func (db *DB) JoinMany(run func(context.Context, *Tx, []*Call) error) *Kind {
	share := db.machine.share()
	return db.kind(run, share.calls, share.batches)
}

// JoinGroups is Join for calls that bring many wishes each.
func (db *DB) JoinGroups(run func(context.Context, *Tx, []*Call) error) *Kind {
	share := db.machine.share()
	return db.kind(run, share.groups, share.grouped)
}

// kind makes a kind with its shadow for patient calls: they go through the
// same function, one at a time, and may use only a part of the lanes, so that
// a row that is locked for long holds up nobody but those who want it.
func (db *DB) kind(run func(context.Context, *Tx, []*Call) error, most, lanes int) *Kind {
	k := &Kind{db: db, run: run, most: most, lanes: lanes}
	k.alone = &Kind{db: db, run: run, most: 1, lanes: db.machine.share().patient, patient: true}
	return k
}

// Do hands a call to the lanes and waits for what becomes of it. Who leaves
// before its turn leaves no trace; who leaves afterwards is told the truth
// within the limits, or that it is not known.
func (k *Kind) Do(ctx context.Context, c *Call) error {
	if err := ctx.Err(); err != nil {
		return left(err)
	}
	q := k.db.queue
	c.kind, c.done = k, make(chan struct{})
	if err := q.enter(c); err != nil {
		return err
	}
	patience := time.NewTimer(q.limits.QueueWait)
	defer patience.Stop()
	select {
	case <-c.done:
		return c.answer()
	case <-ctx.Done():
		// Nothing of it has begun, so "it did not happen" is the truth.
		if q.leave(c, true) {
			return left(ctx.Err())
		}
	case <-patience.C:
		// One that was set aside for a lock stays: it was tried already, and
		// giving up its place would let it starve behind newcomers.
		if q.leave(c, false) {
			return errBusy
		}
	}
	// A lane has it now, and what it does cannot be taken back: the caller's
	// own patience counts no more, only the sum of the limits below us.
	patience.Reset(q.limits.served())
	select {
	case <-c.done:
		return c.answer()
	case <-patience.C:
		if q.leave(c, true) {
			return errLocked
		}
		// The lane is still at it after every limit: it may yet commit.
		return ErrUnknownOutcome
	}
}

// answer gives what became of a call. A panic goes on in the goroutine of the
// caller, where somebody may catch it; in a lane it would end the program.
func (c *Call) answer() error {
	if c.panicked != nil {
		panic(c.panicked)
	}
	return c.err
}

// attempt runs a kind's function over some calls. Its panic belongs to the
// callers, not to the lane.
func (k *Kind) attempt(ctx context.Context, t *Tx, calls []*Call) (err error) {
	// What an attempt before this one left in the calls must not be taken for
	// an answer of this one.
	for _, c := range calls {
		c.err, c.panicked = nil, nil
	}
	defer func() {
		if value := recover(); value != nil {
			err = &panicked{value}
		}
	}()
	return t.verdict(k.run(ctx, t, calls))
}

// panicked is the error of a function that panicked.
type panicked struct{ value any }

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.value) }

// fail gives every call of a batch the same error.
func fail(calls []*Call, err error) {
	for _, c := range calls {
		c.err = err
		if p, ok := err.(*panicked); ok { //nolint:errorlint // it is never wrapped
			c.panicked = p.value
		}
	}
}

// line holds calls in the order they came.
type line struct{ first, last *Call }

// append puts a newcomer behind all others.
func (l *line) append(c *Call) {
	c.prior, c.later = l.last, nil
	if l.last != nil {
		l.last.later = c
	} else {
		l.first = c
	}
	l.last = c
}

// prepend lets somebody in front who waited elsewhere.
func (l *line) prepend(c *Call) {
	c.prior, c.later = nil, l.first
	if l.first != nil {
		l.first.prior = c
	} else {
		l.last = c
	}
	l.first = c
}

// remove takes a call out wherever it stands, which is why the line is a list
// and no slice: callers leave from the middle.
func (l *line) remove(c *Call) {
	if c.prior != nil {
		c.prior.later = c.later
	} else {
		l.first = c.later
	}
	if c.later != nil {
		c.later.prior = c.prior
	} else {
		l.last = c.prior
	}
	c.prior, c.later = nil, nil
}
