package admission

import (
	"sync/atomic"
	"time"

	"landfall/internal/lib/limits"
)

const (
	// idleActivity is how long after the last call the machine counts as idle. The
	// next call may then wait ten milliseconds longer.
	idleActivity = limits.BulkIdleMachine
)

// Activity records when interactive calls arrive, so that background work can
// yield to them. The zero value has never seen one.
type Activity struct{ last atomic.Int64 } // in microseconds

// Record records a call.
func (a *Activity) Record(at time.Time) { a.last.Store(at.UnixMicro()) }

// Recent reports whether calls have arrived recently.
func (a *Activity) Recent() bool { return a.quiet() < limits.BulkActivity }

// Idle reports whether no call has arrived for a long time.
func (a *Activity) Idle() bool { return a.quiet() > idleActivity }

// quiet is how long no call has arrived.
func (a *Activity) quiet() time.Duration { return time.Since(time.UnixMicro(a.last.Load())) }
