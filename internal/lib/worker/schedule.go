package worker

import (
	"math/rand/v2"
	"time"
)

// Schedule says when a failed attempt is retried. Pauses double from First to Longest.
// Each is randomised over its upper half, so that attempts that failed together are not
// retried together. There is no retry later than GiveUp after the first attempt.
type Schedule struct {
	First   time.Duration
	Longest time.Duration
	GiveUp  time.Duration
}

// After returns the pause after a number of failed attempts, the first of which was
// since ago. A longer Retry-After of the other side is honoured, up to the longest
// pause. It returns false when it is time to give up.
func (s Schedule) After(attempts int, since, retryAfter time.Duration) (pause time.Duration, again bool) {
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
	pause -= rand.N(pause/2 + 1) //nolint:gosec // only spreads the attempts
	pause = max(pause, min(retryAfter, s.Longest))
	// Make the last attempt when the time is up, not before.
	return min(pause, max(s.GiveUp-since, time.Second)), true
}
