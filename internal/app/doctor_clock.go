package app

import (
	"context"
	"fmt"
	"time"

	"landfall/internal/store/engine"
)

// Whatever orders or expires things goes by the database's clock, so that servers
// whose clocks differ still agree. This machine's clock decides only what the
// world outside is told by it and tells us.
const (
	// mostSkew is how far the two may be apart before their logs are hard to compare
	// and days begin at different moments.
	mostSkew = 5 * time.Second
	// refusedSkew is how far the time of a signature may be off: receivers of
	// webhooks are told to refuse what is further.
	refusedSkew = 5 * time.Minute
)

// clocked is a database that tells its time.
type clocked interface {
	Clock(ctx context.Context) (time.Time, error)
}

// clock holds the database's clock against this machine's.
func (d *doctor) clock(ctx context.Context, database clocked) {
	if name, err := engine.Parse(d.settings.Database); err == nil && name.File() != "" {
		d.say("clock", Good, "a SQLite database has this machine's clock", "")
		return
	}
	asked := time.Now()
	at, err := database.Clock(ctx)
	if err != nil {
		d.say("clock", Weak, "the database does not tell its time: "+err.Error(), "")
		return
	}
	verdict, finding, advice := judgeClock(apart(at, asked, time.Now()))
	d.say("clock", verdict, finding, advice)
}

// apart is how far a clock is off that was read at some moment between two of
// ours. A database that answers slowly has no wrong clock.
func apart(at, asked, answered time.Time) time.Duration {
	switch {
	case at.Before(asked):
		return asked.Sub(at)
	case at.After(answered):
		return at.Sub(answered)
	}
	return 0
}

// judgeClock says how bad it is. Which of the two is wrong cannot be told here.
func judgeClock(skew time.Duration) (verdict Verdict, finding, advice string) {
	finding = fmt.Sprintf("the database's clock and this machine's are %s apart", skew.Round(time.Second))
	switch {
	case skew > refusedSkew:
		return Bad, finding, "let both follow the same time server: receivers of webhooks refuse signatures that are five minutes off, " +
			"operators' codes fail, and days begin at the wrong moment"
	case skew > mostSkew:
		return Weak, finding, "let both follow the same time server; half a minute is enough for operators' codes to fail"
	}
	return Good, "the database's clock and this machine's agree", ""
}
