package mail

import (
	"testing"
	"time"
)

// ShortenRetries makes deferred mails due again soon, until the test ends.
func ShortenRetries(t *testing.T) {
	before := retries
	retries.First, retries.Longest = 50*time.Millisecond, 100*time.Millisecond
	t.Cleanup(func() { retries = before })
}
