package mail

import (
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

// serverHealth tracks whether the mail server works. While it does not, growing
// pauses lie between attempts, and each attempt is a single mail.
type serverHealth struct {
	mu    sync.Mutex
	pause time.Duration // the current pause; zero while the server works
	until time.Time
}

func (h *serverHealth) ok() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.pause == 0
}

// allow returns how many of n mails may be tried now.
func (h *serverHealth) allow(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case h.pause == 0:
		return n
	case time.Now().Before(h.until):
		return 0
	}
	return min(n, 1)
}

// failed records a failure and returns the pause until the next attempt. Failures
// during a pause do not extend it. first reports whether the server worked before.
func (h *serverHealth) failed() (pause time.Duration, first bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first = h.pause == 0
	if now := time.Now(); first || !now.Before(h.until) {
		h.pause = min(max(2*h.pause, limits.MailServerRetry), limits.MailServerMaxRetry)
		h.until = now.Add(h.pause)
	}
	return time.Until(h.until), first
}

// succeeded records that the server works.
func (h *serverHealth) succeeded() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pause = 0
}
