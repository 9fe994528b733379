package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

const (
	longestRetry = 5  // of a transaction that another one was in the way of
	longestAgain = 20 // of one whose function asked for it
)

// start runs as many lanes as there are connections to write with.
func (m *postgres) start(q *queue) {
	m.queue = q
	for range cap(m.writes.slots) {
		m.lanes.Go(func() {
			for {
				b := q.next(2) // the others are in another lane
				if b == nil {
					return
				}
				m.serve(b)
				q.finish(b)
			}
		})
	}
}

// serve runs a batch. When it fails for what one of them may be to blame for,
// each goes alone, so that the others do not suffer for it; and who then finds
// a lock in the way is set aside to wait for it.
func (m *postgres) serve(b *batch) {
	patience := m.limits.BatchLock
	if b.kind.patient {
		patience = m.limits.Lock
	}
	err := m.run(b.kind, b.calls, patience)
	if err == nil {
		return
	}
	// It is its own fault already.
	if len(b.calls) == 1 {
		m.alone(b.kind, b.calls[0], err)
		return
	}
	// When the database is away, running each call alone would only ask it as
	// many times as there are calls; and after an unknown outcome running
	// anything again could do it twice.
	blameless := is(err, away) || is(err, lost) || is(err, conflict) || errors.Is(err, ErrUnknownOutcome)
	if blameless || m.options.planted == blamesAll {
		fail(b.calls, err)
		return
	}
	for _, c := range b.calls {
		m.alone(b.kind, c, m.run(b.kind, []*Call{c}, m.limits.LoneLock))
	}
}

// alone answers a call that was run by itself, or sets it aside.
func (m *postgres) alone(kind *Kind, c *Call, err error) {
	if is(err, locked) && !kind.patient {
		m.queue.aside(c)
		return
	}
	// The error of a call that was run by itself is its own.
	if err != nil {
		fail([]*Call{c}, err)
	}
	m.queue.answer(c)
}

// run runs calls in a transaction, again when that can help.
func (m *postgres) run(kind *Kind, calls []*Call, patience time.Duration) error {
	until := time.Now().Add(m.limits.Transaction)
	for attempt := 1; ; attempt++ {
		err := m.attempt(kind, calls, patience, until)
		// Before its commit a transaction leaves nothing, so it may run again:
		// when another one was in its way, or when its connection broke.
		again := is(err, conflict) && attempt < longestRetry || is(err, lost) && attempt == 1 ||
			errors.Is(err, ErrAgain) && attempt < longestAgain
		if !again {
			return err
		}
		if !errors.Is(err, ErrAgain) {
			time.Sleep(time.Duration(rand.Int64N(int64(10*time.Millisecond) << attempt))) //nolint:gosec // only to come at another time than the others
		}
		// The callers' limits count all repetitions together.
		if time.Now().After(until) {
			return err
		}
	}
}

// attempt runs calls in a transaction once. A fault that says conflict or lost
// means that nothing of it remains.
func (m *postgres) attempt(kind *Kind, calls []*Call, patience time.Duration, until time.Time) error {
	var extra []setting
	// That one is what connections begin with; saying it again would cost work
	// in every transaction.
	if patience != m.limits.BatchLock {
		extra = []setting{{"lock_timeout", milliseconds(patience)}}
	}
	x := &exchange{pool: m.writes, begin: "BEGIN", settings: m.with(extra...), silence: m.limits.Silence, until: until}
	defer x.end()
	t := &Tx{dialect: postgresDialect, runner: x}
	err := kind.attempt(context.Background(), t, calls)
	switch {
	// This is the mistake itself, for the test that must find it.
	case err == nil && m.options.planted == uncommitted && t.changed == 0:
		return nil
	case err == nil:
		return m.commit(x, t.lazy)
	// What was undone on purpose is over with the rollback of end.
	case errors.Is(err, ErrUndone):
		return nil
	case len(calls) == 1 && ours(err) && !errors.Is(err, ErrAgain):
		// A refusal rests on what was found, so that must be there to stay.
		x.end()
		if trouble := m.commit(x, false); trouble != nil {
			return trouble
		}
	}
	return err
}
