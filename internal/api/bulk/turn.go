package bulk

import (
	"context"
	"runtime"
	"time"

	"landfall/internal/api/answer"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// processors is how many processors lines may use at once. One is left free:
// with all of them busy, the program would notice a new single call only after
// ten milliseconds. When the machine is idle, lines may use all of them.
var processors = max(1, runtime.GOMAXPROCS(0)-1)

const (
	// While single calls arrive, one batch or linesWhileBusy lines are processed
	// at a time. Each slot then stays unused for as long as the work took, so
	// that single calls find the processors and the database free half of the
	// time.
	linesWhileBusy = 8
	// largeLines limits the large lines in memory at once, and largeLinesEach
	// those of one organisation.
	largeLines     = limits.BulkLongLines
	largeLinesEach = limits.BulkLongLinesEach
)

// newLargeLines returns the limiter of the large lines in memory.
func newLargeLines() *admission.Limiter {
	return admission.NewLimiter(admission.Limits{Capacity: largeLines, Share: largeLinesEach, Wait: admission.Forever})
}

// turnLimiters limits the part of the machine that bulk requests use, and shares it
// evenly between organisations.
type turnLimiters struct {
	idle       func() bool
	all        *admission.Limiter // all processors, while the machine is idle
	processors *admission.Limiter
	batches    *admission.Limiter // batches, while single calls arrive
	lines      *admission.Limiter // single lines, likewise
}

// newTurnLimiters returns the limiters that all bulk requests share.
func newTurnLimiters(idle func() bool) *turnLimiters {
	// Organisations take turns; a single one may use everything.
	few := func(most int) *admission.Limiter {
		return admission.NewLimiter(admission.Limits{Capacity: int64(most), Wait: admission.Forever})
	}
	return &turnLimiters{
		idle: idle, all: few(runtime.GOMAXPROCS(0)), processors: few(processors), batches: few(1), lines: few(linesWhileBusy),
	}
}

// processorTurn waits for a turn of the organisation at the processors.
func (t *stream) processorTurn(ctx context.Context) (leave func()) {
	limiter := t.turns.processors
	if t.turns.idle() {
		limiter = t.turns.all
	}
	leave, err := limiter.Acquire(ctx, admission.Request{Tenant: t.request.Who.Organisation})
	if err != nil {
		return func() {} // it is over, and will be noticed
	}
	return leave
}

// inTurn runs work: at once while no single calls arrive, otherwise when it is
// this organisation's turn. A verb that mostly waits for a vendor takes no
// turns.
func (t *stream) inTurn(ctx context.Context, many bool, work func()) {
	if !t.Busy() || t.request.Verb == answer.Instruction {
		work()
		return
	}
	limiter := t.turns.lines
	if many {
		limiter = t.turns.batches
	}
	leave, err := limiter.Acquire(ctx, admission.Request{Tenant: t.request.Who.Organisation})
	if err != nil {
		work() // it is over, and will be noticed
		return
	}
	began := time.Now()
	work()
	// Keep the slot, unused, for as long as the work took. So half of the time is
	// free for single calls, whatever the work costs.
	time.AfterFunc(min(time.Since(began), limits.BulkRest), leave)
}
