package landfall

import (
	"context"
	"time"
)

// ClockReading is what a look at the database's clock found.
type ClockReading struct {
	Now     time.Time
	SetBack time.Duration // by how much the clock was set back since a server last looked; 0: not noticeably
}

// ClockJump is a jump of the database's clock.
type ClockJump struct {
	At time.Time     // by the clock after the jump
	By time.Duration // negative: it was set back
}

// ClockKeeper watches the database's clock, by which everything is ordered and
// expires.
type ClockKeeper interface {
	// CheckClock looks at the clock. If it was set back, whatever waits for an
	// instant waits for the same time as before: leases, retries, schedules and
	// the ends of tokens and sessions move back with the clock. Of many servers
	// one does that, also if all of them were stopped when the clock was set.
	CheckClock(ctx context.Context) (ClockReading, error)
	// RecordClockJump records a jump ahead, which moves nothing.
	RecordClockJump(ctx context.Context, by time.Duration) error
	// LastClockJump returns the last jump, or a zero one.
	LastClockJump(ctx context.Context) (ClockJump, error)
}
