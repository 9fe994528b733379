package mail

import (
	"testing"
	"time"
)

// Hurry lets mails that were put off come again soon, until the test ends.
func Hurry(t *testing.T) {
	before := schedule
	schedule.First, schedule.Longest = 50*time.Millisecond, 100*time.Millisecond
	t.Cleanup(func() { schedule = before })
}
