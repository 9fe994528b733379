package run

import (
	"context"
	"time"

	"landfall/internal/lib/admission"
)

const (
	// In company a batch is short and done alone, and whoever did it leaves its
	// turn unused for as long as it took: single calls find processors and
	// database free every other moment.
	widthInCompany = width / 8
	longestRest    = 50 * time.Millisecond
	// longestTurn is after how long a batch that waits for somebody outside no
	// longer keeps the others from theirs.
	longestTurn = 100 * time.Millisecond
)

// newTurns lets one batch at a time through, the runs of organisations in turn.
func newTurns() *admission.Limiter {
	return admission.NewLimiter(admission.Limits{Capacity: 1, Wait: admission.Forever})
}

// together is how many accounts make a batch at this moment.
func (c *Conductor) together(most int) int {
	if c.company() {
		return min(most, widthInCompany)
	}
	return most
}

// inTurn does a batch: at once while nobody calls, else when its turn has come.
func (c *Conductor) inTurn(ctx context.Context, organisation string, batch func()) {
	if !c.company() {
		batch()
		return
	}
	leave, err := c.turns.Acquire(ctx, admission.Request{Tenant: organisation})
	if err != nil {
		batch() // it is over, and will be noticed
		return
	}
	began := time.Now()
	slow := time.AfterFunc(longestTurn, leave)
	batch()
	slow.Stop()
	time.AfterFunc(min(time.Since(began), longestRest), leave)
}
