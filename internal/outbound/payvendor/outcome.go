package payvendor

import (
	"context"
	"errors"
	"time"

	"github.com/sony/gobreaker/v2"
)

// The outcomes passed to Options.Observe.
const (
	Answered = "answered" // including "not found"
	Refused  = "refused"  // the vendor rejected our credentials or configuration
	Failed   = "failed"
	Skipped  = "spared" // not sent: the breaker is open, or the vendor asked us to wait
)

// Outcomes lists all outcomes.
var Outcomes = []string{Answered, Refused, Failed, Skipped}

// observe reports the outcome of a request. Cancelled requests and those that were not
// admitted say nothing about the vendor.
func (c *orgClient) observe(began time.Time, err error) {
	if c.options.Observe == nil || errors.Is(err, context.Canceled) || errors.Is(err, errBusy) {
		return
	}
	outcome := Answered
	switch status, replied := errors.AsType[*statusError](err); {
	case errors.Is(err, gobreaker.ErrOpenState), errors.Is(err, gobreaker.ErrTooManyRequests), replied && status.body == nil && status.retryAfter > 0:
		outcome = Skipped
	case err != nil && isRejection(err):
		outcome = Refused
	case countsAsFailure(err):
		outcome = Failed
	}
	c.options.Observe(c.vendor.Code, outcome, time.Since(began))
}

// Breakers returns how many organisations have an open breaker, by vendor.
func (v *Verifier) Breakers() map[string]int {
	v.mu.Lock()
	lines := make([]*vendorClient, 0, len(v.clients))
	for _, target := range v.clients {
		lines = append(lines, target)
	}
	v.mu.Unlock()
	open := make(map[string]int, len(lines))
	for _, target := range lines {
		target.mu.Lock()
		open[target.vendor.Code] = 0
		for _, org := range target.organisations {
			if org.breaker != nil && org.breaker.State() != gobreaker.StateClosed {
				open[target.vendor.Code]++
			}
		}
		target.mu.Unlock()
	}
	return open
}
