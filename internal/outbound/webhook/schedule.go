// Package outbox lets what was committed leave the service: at least once,
// taken by any replica under a lease, tried again after growing pauses that
// survive restarts, and given up only in the open, on a list that an operator
// reads and replays.
//
// Rows beside the data are the truth; nothing here keeps anything in memory
// that a kill would lose. A row that waits has an instant at which it is due
// and the number of attempts so far; whoever claims it gets a lease by the
// database's clock and a token, and only the holder of that token can say what
// became of it.
package webhook

import (
	"math/rand/v2"
	"time"
)

// Schedule says when a failed attempt is repeated. Pauses double from First to
// Longest, each drawn from its upper half so that what failed together does not
// come back together; GiveUp after the first attempt there is no other.
type Schedule struct {
	First   time.Duration
	Longest time.Duration
	GiveUp  time.Duration
}

// ThreeDays is the schedule of webhooks and mails: some thirty attempts, soon
// at first and every four hours in the end.
var ThreeDays = Schedule{First: 5 * time.Second, Longest: 4 * time.Hour, GiveUp: 72 * time.Hour}

// After gives the pause after so many failed attempts, the first of which was
// so long ago. What the other side asked for (Retry-After) is honoured where it
// is longer, up to the longest pause. False means that it is time to give up.
func (s Schedule) After(attempts int, since, asked time.Duration) (pause time.Duration, again bool) {
	if since >= s.GiveUp {
		return 0, false
	}
	pause = s.First
	for range min(attempts, 64) - 1 {
		if pause = 2 * pause; pause >= s.Longest {
			pause = s.Longest
			break
		}
	}
	pause -= rand.N(pause/2 + 1) //nolint:gosec // only to come at another time than the others
	pause = max(pause, min(asked, s.Longest))
	// The last attempt is made when time is up, not before it.
	return min(pause, max(s.GiveUp-since, time.Second)), true
}
