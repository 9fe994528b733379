package app

import (
	"context"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/store/engine"
)

// Ordering and expiry use the database's clock, so that servers with different clocks
// agree. This machine's clock matters only for other systems.
const (
	// warnSkew makes logs hard to compare and lets days start at different moments.
	warnSkew = 5 * time.Second
	// maxSkew is the limit for signatures: webhook receivers are told to refuse older ones.
	maxSkew = 5 * time.Minute
)

type clockStore interface {
	Clock(ctx context.Context) (time.Time, error)
	LastClockJump(ctx context.Context) (landfall.ClockJump, error)
}

// clock compares the database's clock with this machine's.
func (d *doctor) clock(ctx context.Context, database clockStore) {
	d.clockJump(ctx, database)
	if name, err := engine.Parse(d.settings.Database); err == nil && name.File() != "" {
		d.add("clock", OK, "a SQLite database uses this machine's clock", "")
		return
	}
	asked := time.Now()
	at, err := database.Clock(ctx)
	if err != nil {
		d.add("clock", Warning, "cannot read the time of the database: "+err.Error(), "")
		return
	}
	verdict, finding, advice := clockStatus(clockSkew(at, asked, time.Now()))
	d.add("clock", verdict, finding, advice)
}

// jumpShown is how long the doctor mentions a jump of the clock.
const jumpShown = 7 * 24 * time.Hour

// clockJump mentions a recent jump of the database's clock.
func (d *doctor) clockJump(ctx context.Context, database clockStore) {
	now, err := database.Clock(ctx)
	jump, failed := database.LastClockJump(ctx)
	if err != nil || failed != nil || jump.By.Abs() < limits.ClockReport || now.Sub(jump.At).Abs() > jumpShown {
		return
	}
	way := "ahead"
	if jump.By < 0 {
		way = "back"
	}
	d.add("clock", Warning, fmt.Sprintf("the database's clock was set %s by %s, noticed at %s by the new time",
		way, jump.By.Abs().Round(time.Second), jump.At.UTC().Format(time.RFC3339)),
		"find out what set the clock of the database's machine; see docs/upkeep.md")
}

// clockSkew returns how far a clock is off that was read between two times of ours. A slow
// reply does not count.
func clockSkew(at, asked, answered time.Time) time.Duration {
	switch {
	case at.Before(asked):
		return asked.Sub(at)
	case at.After(answered):
		return at.Sub(answered)
	}
	return 0
}

// clockStatus returns the diagnosis. It cannot tell which clock is wrong.
func clockStatus(skew time.Duration) (verdict Status, finding, advice string) {
	finding = fmt.Sprintf("the database's clock and this machine's are %s apart", skew.Round(time.Second))
	switch {
	case skew > maxSkew:
		return Problem, finding, "use the same time server for both: webhook receivers refuse signatures that are five minutes off, " +
			"one-time codes fail, and days start at the wrong moment"
	case skew > warnSkew:
		return Warning, finding, "use the same time server for both; half a minute is enough to make one-time codes fail"
	}
	return OK, "the database's clock and this machine's agree", ""
}
