package app

import (
	"testing"
	"time"
)

// A clock that is off is told before it refuses anybody, and a slow answer is
// not taken for a wrong clock.
func TestTheDoctorHoldsClocksAgainstEachOther(t *testing.T) {
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, one := range map[string]struct {
		at, answered time.Duration // from when it was asked
		want         Verdict
	}{
		"the same":         {0, time.Millisecond, Good},
		"a slow answer":    {20 * time.Second, 25 * time.Second, Good},
		"a little ahead":   {4 * time.Second, 0, Good},
		"ahead":            {6 * time.Second, 0, Weak},
		"behind":           {-2 * time.Minute, 10 * time.Second, Weak},
		"far ahead":        {6 * time.Minute, time.Second, Bad},
		"in another zone":  {-time.Hour, 0, Bad},
		"at the tolerance": {-5 * time.Minute, 0, Weak},
	} {
		skew := apart(asked.Add(one.at), asked, asked.Add(one.answered))
		if verdict, finding, advice := judgeClock(skew); verdict != one.want || (verdict == Good) != (advice == "") {
			t.Errorf("%s: %s, %q, %q; want %s", name, verdict, finding, advice, one.want)
		}
	}
}
