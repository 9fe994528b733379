package upkeep

import (
	"context"
	"log/slog"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// clockKeeper watches the database's clock. It reports jumps, and lets the store
// move leases and pauses back when the clock was set back.
type clockKeeper struct {
	store landfall.ClockKeeper
	log   *slog.Logger
	last  clockReading
	jumps atomic.Int64
}

// clockReading is when the database's clock showed a time, by the clock of this
// process, which nobody sets.
type clockReading struct{ asked, answered, shown time.Time }

// step looks at the clock once.
func (c *clockKeeper) step(ctx context.Context) time.Duration {
	reading := clockReading{asked: time.Now()}
	found, err := c.store.CheckClock(ctx)
	if err != nil {
		if ctx.Err() == nil {
			c.log.Warn("cannot check the database's clock; trying again", "error", err)
		}
		return limits.ClockCheck
	}
	reading.answered, reading.shown = time.Now(), found.Now
	jump := -found.SetBack // noticed by what servers recorded before this one started
	if !c.last.shown.IsZero() {
		jump = reading.jumpSince(c.last)
	}
	c.last = reading
	if jump.Abs() < limits.ClockReport {
		return limits.ClockCheck
	}
	c.jumps.Add(1)
	c.log.Warn("the database's clock jumped", "by", jump.Round(time.Second).String())
	if jump > 0 {
		if err := c.store.RecordClockJump(ctx, jump); err != nil {
			c.log.Warn("cannot record that the database's clock jumped", "error", err)
		}
	}
	return limits.ClockCheck
}

// jumpSince returns how far the clock jumped between two readings. A slow answer
// is no jump.
func (r clockReading) jumpSince(last clockReading) time.Duration {
	advance := r.shown.Sub(last.shown)
	least, most := r.asked.Sub(last.answered), r.answered.Sub(last.asked)
	return advance - min(max(advance, least), most)
}
