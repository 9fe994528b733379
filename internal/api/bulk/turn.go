package bulk

import (
	"context"
	"runtime"
	"time"

	"landfall/internal/api/answer"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// processors is how many of them lines may take at once. One is left: with all
// of them taken the program would notice only every ten milliseconds that a
// single call has come. Where none has come for long, nobody is there to mind.
var processors = max(1, runtime.GOMAXPROCS(0)-1)

const (
	// In company a bundle or so many lines are done at a time, and whoever had
	// that turn leaves it unused for as long as he took: single calls find
	// processors and database free every other moment.
	linesInCompany = 8
	longestRest    = limits.BulkRest
	// largeLines is how many lines longer than usual are in memory at once, and
	// largeLinesEach how many of one organisation.
	largeLines     = limits.BulkLongLines
	largeLinesEach = limits.BulkLongLinesEach
)

// newLargeLines bounds the long lines that are in memory.
func newLargeLines() *admission.Limiter {
	return admission.NewLimiter(admission.Limits{Capacity: largeLines, Share: largeLinesEach, Wait: admission.Forever})
}

// turns is what bulk takes its part of the machine by, shared evenly between
// organisations.
type turns struct {
	alone      func() bool
	all        *admission.Limiter // of the processors
	processors *admission.Limiter
	bundles    *admission.Limiter // in company
	lines      *admission.Limiter // in company
}

// newTurns makes the turns of all bulk requests together.
func newTurns(alone func() bool) *turns {
	// Organisations take turns; one alone may have all.
	few := func(most int) *admission.Limiter {
		return admission.NewLimiter(admission.Limits{Capacity: int64(most), Wait: admission.Forever})
	}
	return &turns{
		alone: alone, all: few(runtime.GOMAXPROCS(0)), processors: few(processors), bundles: few(1), lines: few(linesInCompany),
	}
}

// atProcessors are the turns of one organisation at the processors.
type atProcessors struct {
	turns        *turns
	organisation string
}

// Enter waits for a turn.
func (a atProcessors) Enter(ctx context.Context) (leave func()) {
	turns := a.turns.processors
	if a.turns.alone() {
		turns = a.turns.all
	}
	leave, err := turns.Acquire(ctx, admission.Request{Tenant: a.organisation})
	if err != nil {
		return func() {} // it is over, and will be noticed
	}
	return leave
}

// inTurn does some work: at once while bulk is alone, else when its turn has
// come. Whoever waits for a vendor takes nothing from anybody.
func (t *stream) inTurn(ctx context.Context, many bool, work func()) {
	if !t.Busy() || t.request.Verb == answer.Instruction {
		work()
		return
	}
	turns := t.turns.lines
	if many {
		turns = t.turns.bundles
	}
	leave, err := turns.Acquire(ctx, admission.Request{Tenant: t.request.Who.Organisation})
	if err != nil {
		work() // it is over, and will be noticed
		return
	}
	began := time.Now()
	work()
	// The turn is kept for as long as the work took, unused: so single calls
	// find half of the time free, whatever the work costs.
	time.AfterFunc(min(time.Since(began), longestRest), leave)
}
