package payvendor

import (
	"maps"
	"slices"
	"time"

	"github.com/sony/gobreaker/v2"
)

// Health says how a vendor did of late, as far as this replica asked it:
// nothing when it did not.
func (v *Verifier) Health(code string) string {
	v.mu.Lock()
	line, warned := v.lines[code], v.warned[code]
	v.mu.Unlock()
	switch {
	case line == nil && warned:
		return "failed"
	case line == nil:
		return ""
	}
	line.mu.Lock()
	lanes, refusing := slices.Collect(maps.Values(line.lanes)), line.refusing
	line.mu.Unlock()
	if refusing {
		return "refused by vendor"
	}
	// One organisation that is not served is enough to have a look: each has a lane,
	// so that the others may not notice.
	for _, lane := range lanes {
		lane.state.Lock()
		quiet := time.Now().Before(lane.quietUntil)
		lane.state.Unlock()
		if lane.breaker != nil && lane.breaker.State() != gobreaker.StateClosed || quiet {
			return "failing"
		}
	}
	return "good"
}
