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
	// warnSkew is how far the two may be apart before their logs are hard to compare
	// and days begin at different moments.
	warnSkew = 5 * time.Second
	// maxSkew is how far the time of a signature may be off: receivers of
	// webhooks are told to refuse what is further.
	maxSkew = 5 * time.Minute
)

// clockStore is a database that tells its time.
type clockStore interface {
	Clock(ctx context.Context) (time.Time, error)
}

// clock holds the database's clock against this machine's.
func (d *doctor) clock(ctx context.Context, database clockStore) {
	if name, err := engine.Parse(d.settings.Database); err == nil && name.File() != "" {
		d.add("clock", OK, "a SQLite database has this machine's clock", "")
		return
	}
	asked := time.Now()
	at, err := database.Clock(ctx)
	if err != nil {
		d.add("clock", Warning, "the database does not tell its time: "+err.Error(), "")
		return
	}
	verdict, finding, advice := clockStatus(clockSkew(at, asked, time.Now()))
	d.add("clock", verdict, finding, advice)
}

// clockSkew is how far a clock is off that was read at some moment between two of
// ours. A database that answers slowly has no wrong clock.
func clockSkew(at, asked, answered time.Time) time.Duration {
	switch {
	case at.Before(asked):
		return asked.Sub(at)
	case at.After(answered):
		return at.Sub(answered)
	}
	return 0
}

// clockStatus says how bad it is. Which of the two is wrong cannot be told here.
func clockStatus(skew time.Duration) (verdict Status, finding, advice string) {
	finding = fmt.Sprintf("the database's clock and this machine's are %s apart", skew.Round(time.Second))
	switch {
	case skew > maxSkew:
		return Problem, finding, "let both follow the same time server: receivers of webhooks refuse signatures that are five minutes off, " +
			"operators' codes fail, and days begin at the wrong moment"
	case skew > warnSkew:
		return Warning, finding, "let both follow the same time server; half a minute is enough for operators' codes to fail"
	}
	return OK, "the database's clock and this machine's agree", ""
}
