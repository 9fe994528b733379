package engine

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"landfall/internal/lib/limits"
)

const (
	maxRetries = 5  // of a transaction that conflicted with another one
	maxReruns  = 20 // of one whose function returned ErrAgain
)

// start runs one worker for each connection that writes.
func (m *postgresDB) start(q *queue) {
	m.queue = q
	for range cap(m.writes.slots) {
		m.workers.Go(func() {
			for {
				b := q.next(2) // the other callers are with another worker
				if b == nil {
					return
				}
				m.serve(b)
				q.finish(b)
			}
		})
	}
}

// serve runs a batch. If it fails and one of its calls may be the cause, each
// call runs alone, so that the others do not fail with it; a call that then runs
// into a lock is set aside to wait for it.
func (m *postgresDB) serve(b *callBatch) {
	lockTimeout := m.limits.BatchLock
	if b.kind.waitsForLocks {
		lockTimeout = m.limits.Lock
	}
	err := m.run(b.kind, b.calls, lockTimeout)
	if err == nil {
		return
	}
	if len(b.calls) == 1 {
		m.alone(b.kind, b.calls[0], err)
		return
	}
	// If the database is away, running each call alone would only ask it once
	// per call; after an unknown outcome, it could do the work twice.
	blameless := isFault(err, faultUnavailable) || isFault(err, faultConnection) || isFault(err, faultConflict) || errors.Is(err, ErrUnknownOutcome)
	if blameless {
		failAll(b.calls, err)
		return
	}
	for _, c := range b.calls {
		m.alone(b.kind, c, m.run(b.kind, []*Call{c}, m.limits.LoneLock))
	}
}

// alone answers a call that ran by itself, or sets it aside.
func (m *postgresDB) alone(kind *Kind, c *Call, err error) {
	if isFault(err, faultLocked) && !kind.waitsForLocks {
		m.queue.aside(c)
		return
	}
	if err != nil {
		failAll([]*Call{c}, err)
	}
	m.queue.answer(c)
}

// run runs calls in a transaction, and repeats it if that can help.
func (m *postgresDB) run(kind *Kind, calls []*Call, lockTimeout time.Duration) error {
	until := time.Now().Add(m.limits.Transaction)
	for attempt := 1; ; attempt++ {
		err := m.attempt(kind, calls, lockTimeout, until)
		// A transaction leaves nothing before its commit, so it may run again if
		// it conflicted with another one or its connection broke.
		again := isFault(err, faultConflict) && attempt < maxRetries || isFault(err, faultConnection) && attempt == 1 ||
			errors.Is(err, ErrAgain) && attempt < maxReruns
		if !again {
			return err
		}
		if !errors.Is(err, ErrAgain) {
			time.Sleep(time.Duration(rand.Int64N(int64(limits.ConflictRetry) << attempt))) //nolint:gosec // jitter
		}
		// The limit covers all attempts together.
		if time.Now().After(until) {
			return err
		}
	}
}

// attempt runs calls in a transaction once. After a faultConflict or a
// faultConnection nothing of it remains.
func (m *postgresDB) attempt(kind *Kind, calls []*Call, lockTimeout time.Duration, until time.Time) error {
	var extra []setting
	// Connections start with BatchLock; setting it again would cost work in
	// every transaction.
	if lockTimeout != m.limits.BatchLock {
		extra = []setting{{"lock_timeout", milliseconds(lockTimeout)}}
	}
	x := &pgTx{pool: m.writes, begin: "BEGIN", settings: m.with(extra...), silence: m.limits.Silence, until: until}
	defer x.end()
	t := &Tx{dialect: postgresDialect, runner: x}
	err := kind.attempt(context.Background(), t, calls)
	switch {
	case err == nil:
		return m.commit(x, t.asyncCommit)
	// end rolls it back.
	case errors.Is(err, ErrUndone):
		return nil
	case len(calls) == 1 && fromCaller(err) && !errors.Is(err, ErrAgain):
		// A refusal depends on what was found, so that must be durable too.
		x.end()
		if failure := m.commit(x, false); failure != nil {
			return failure
		}
	}
	return err
}
