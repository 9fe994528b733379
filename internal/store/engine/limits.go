package engine

import (
	"time"

	"landfall/internal/lib/limits"
)

// Limits are the time limits of the engine; internal/lib/limits explains them.
// Each is shorter than what it is part of, so that an inner limit ends first and
// every caller gets an answer:
//
//	Request ⊃ QueueWait + Transaction + Commit + Resolve
//	Transaction ⊃ Silence ⊃ Statement ⊃ Lock ⊃ Connect ⊃ BatchLock
//
// A command may take longer to connect, because it has no callers.
type Limits struct {
	Request     time.Duration // enforced by the HTTP server
	QueueWait   time.Duration
	Admission   time.Duration
	Transaction time.Duration
	Commit      time.Duration
	Resolve     time.Duration
	Silence     time.Duration
	Statement   time.Duration
	Lock        time.Duration
	Connect     time.Duration
	BatchLock   time.Duration
	LoneLock    time.Duration
}

// DefaultLimits are the limits that the service runs with.
func DefaultLimits() Limits {
	return Limits{
		Request: limits.Request, QueueWait: limits.QueueWait, Admission: limits.QueueEstimate, Transaction: limits.Transaction,
		Commit: limits.Commit, Resolve: limits.CommitLookup, Silence: limits.DatabaseSilence, Statement: limits.Statement,
		Lock: limits.Lock, Connect: limits.DatabaseConnect, BatchLock: limits.BatchLock, LoneLock: limits.SingleLock,
	}
}

// or fills zero values with defaults.
func (l Limits) or(defaults Limits) Limits {
	for _, limit := range []struct{ own, fallback *time.Duration }{
		{&l.Request, &defaults.Request}, {&l.QueueWait, &defaults.QueueWait}, {&l.Admission, &defaults.Admission},
		{&l.Transaction, &defaults.Transaction}, {&l.Commit, &defaults.Commit}, {&l.Resolve, &defaults.Resolve},
		{&l.Silence, &defaults.Silence}, {&l.Statement, &defaults.Statement}, {&l.Lock, &defaults.Lock},
		{&l.Connect, &defaults.Connect}, {&l.BatchLock, &defaults.BatchLock}, {&l.LoneLock, &defaults.LoneLock},
	} {
		if *limit.own <= 0 {
			*limit.own = *limit.fallback
		}
	}
	return l
}

// served is the longest time that a call takes once a worker has taken it.
func (l Limits) served() time.Duration { return l.Transaction + l.Commit + l.Resolve }
