package payvendor

import (
	"maps"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Health returns the state of a vendor as seen by this replica, or "" when it was not
// queried.
func (v *Verifier) Health(code string) string {
	v.mu.Lock()
	target, warned := v.clients[code], v.warned[code]
	v.mu.Unlock()
	switch {
	case target == nil && warned:
		return "failed"
	case target == nil:
		return ""
	}
	target.mu.Lock()
	organisations, rejecting := slices.Collect(maps.Values(target.organisations)), target.rejecting
	target.mu.Unlock()
	if rejecting {
		return "refused by vendor"
	}
	// One organisation that is not served is enough to report a failure.
	for _, org := range organisations {
		org.stateMu.Lock()
		paused := time.Now().Before(org.pausedUntil)
		org.stateMu.Unlock()
		if org.breaker != nil && org.breaker.State() != gobreaker.StateClosed || paused {
			return "failing"
		}
	}
	return "good"
}
