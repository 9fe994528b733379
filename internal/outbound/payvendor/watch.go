package payvendor

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// The outcomes that Options.Watch is told of.
const (
	Answered = "answered" // also that there is no such instruction
	Refused  = "refused"  // our credentials or our configuration
	Failed   = "failed"
	Spared   = "spared" // not asked: the breaker is open, or the vendor asked for quiet
)

// Outcomes lists them.
var Outcomes = []string{Answered, Refused, Failed, Spared}

// watch tells how a question ended. A caller who left says nothing about the
// vendor, nor do those for whom there was no place.
func (l *lane) watch(began time.Time, err error) {
	if l.options.Watch == nil || errors.Is(err, context.Canceled) || errors.Is(err, errBusy) {
		return
	}
	outcome := Answered
	switch status, said := errors.AsType[*statusError](err); {
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests), said && status.body == nil && status.retryAfter > 0:
		outcome = Spared
	case err != nil && isRefusal(err):
		outcome = Refused
	case isTrouble(err):
		outcome = Failed
	}
	l.options.Watch(l.vendor.Code, outcome, time.Since(began))
}

// Breakers says of every vendor that was asked how many organisations' breakers
// are not closed.
func (v *Verifier) Breakers() map[string]int {
	v.mu.Lock()
	lines := make([]*line, 0, len(v.lines))
	for _, line := range v.lines {
		lines = append(lines, line)
	}
	v.mu.Unlock()
	open := make(map[string]int, len(lines))
	for _, line := range lines {
		line.mu.Lock()
		open[line.vendor.Code] = 0
		for _, lane := range line.lanes {
			if lane.breaker != nil && lane.breaker.State() != gobreaker.StateClosed {
				open[line.vendor.Code]++
			}
		}
		line.mu.Unlock()
	}
	return open
}
