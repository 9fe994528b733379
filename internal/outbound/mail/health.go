package mail

import (
	"sync"
	"time"
)

const (
	firstRest   = 5 * time.Second
	longestRest = 5 * time.Minute
)

// health is how the mail server is. One that is in trouble is left alone for
// growing pauses, and then asked with a single mail.
type health struct {
	mu    sync.Mutex
	rest  time.Duration // the last pause; zero when the server is well
	until time.Time
}

func (h *health) well() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.rest == 0
}

// admits says how many mails may be tried now.
func (h *health) admits(most int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.rest == 0:
		return most
	case time.Now().Before(h.until):
		return 0
	}
	return min(most, 1)
}

// fall notes a trouble and gives the pause until the next try. Several at once
// are one, of which only the first is news.
func (h *health) fall() (pause time.Duration, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.rest == 0
	if now := time.Now(); first || !now.Before(h.until) {
		h.rest = min(max(2*h.rest, firstRest), longestRest)
		h.until = now.Add(h.rest)
	}
	return time.Until(h.until), first
}

// recover notes that the server works.
func (h *health) recover() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.rest = 0
}
