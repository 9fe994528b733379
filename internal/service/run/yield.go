package run

import (
	"context"
	"time"

	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

const (
	// While there are interactive calls, batches are small and run one at a time.
	// After each, its turn stays unused for as long as the batch took, so that
	// interactive calls find processors and database free half of the time.
	yieldingBatchSize = batchSize / 8
	// maxTurn is how long a batch may keep other batches waiting, for example while
	// it waits for a payment vendor.
	maxTurn = limits.RunTurn
)

// newTurns lets one batch through at a time; organisations take turns.
func newTurns() *admission.Limiter {
	return admission.NewLimiter(admission.Limits{Capacity: 1, Wait: admission.Forever})
}

// maxBatch is how many accounts a batch may have now.
func (r *Runner) maxBatch(limit int) int {
	if r.interactive.Recent() {
		return min(limit, yieldingBatchSize)
	}
	return limit
}

// yield runs a batch: at once while there are no interactive calls, otherwise
// when its turn has come.
func (r *Runner) yield(ctx context.Context, organisation string, work func()) {
	if !r.interactive.Recent() {
		work()
		return
	}
	leave, err := r.turns.Acquire(ctx, admission.Request{Tenant: organisation})
	if err != nil {
		work() // the context has ended, and the batch will notice
		return
	}
	began := time.Now()
	slow := time.AfterFunc(maxTurn, leave)
	work()
	slow.Stop()
	time.AfterFunc(min(time.Since(began), limits.RunYield), leave)
}
