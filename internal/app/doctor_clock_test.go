package app

import (
	"testing"
	"time"
)

// A wrong clock is reported before it causes refusals, and a slow answer is not
// mistaken for a wrong clock.
func TestDoctorComparesClocks(t *testing.T) {
	asked := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, one := range map[string]struct {
		at, answered time.Duration // since the request was sent
		want         Status
	}{
		"the same":         {0, time.Millisecond, OK},
		"a slow answer":    {20 * time.Second, 25 * time.Second, OK},
		"a little ahead":   {4 * time.Second, 0, OK},
		"ahead":            {6 * time.Second, 0, Warning},
		"behind":           {-2 * time.Minute, 10 * time.Second, Warning},
		"far ahead":        {6 * time.Minute, time.Second, Problem},
		"in another zone":  {-time.Hour, 0, Problem},
		"at the tolerance": {-5 * time.Minute, 0, Warning},
	} {
		skew := clockSkew(asked.Add(one.at), asked, asked.Add(one.answered))
		if verdict, finding, advice := clockStatus(skew); verdict != one.want || (verdict == OK) != (advice == "") {
			t.Errorf("%s: %s, %q, %q; want %s", name, verdict, finding, advice, one.want)
		}
	}
}
