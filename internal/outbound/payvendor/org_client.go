package payvendor

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// minFailedProbes is how many probes of an open breaker must fail before an outage counts
// as persistent: one failed request after a quiet night is not enough.
const minFailedProbes = 3

// orgClient is the part of a vendorClient that belongs to one organisation: its circuit
// breaker and how long the vendor has been failing. References that make a vendor fail
// affect only the organisation that sends them.
type orgClient struct {
	*vendorClient
	organisation string
	breaker      *gobreaker.CircuitBreaker[result] // nil for the sandbox

	stateMu      sync.Mutex
	failingSince time.Time // when the breaker opened; zero while it is closed
	failedProbes int
	pausedUntil  time.Time // by the Retry-After of the vendor
}

// newOrgClient returns a client whose breaker opens after five failures in a row, or when
// half of the requests of a busy minute fail.
func newOrgClient(target *vendorClient, organisation string) *orgClient {
	c := &orgClient{vendorClient: target, organisation: organisation}
	if target.vendor.Adapter == Sandbox {
		return c // its failures are simulated and must not affect other references
	}
	c.breaker = gobreaker.NewCircuitBreaker[result](gobreaker.Settings{
		Name:        target.vendor.Code,
		MaxRequests: 1,
		Interval:    limits.VendorFailureWindow,
		Timeout:     target.options.BreakerPause,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return counts.ConsecutiveFailures >= 5 ||
				counts.Requests >= 20 && counts.TotalFailures*2 >= counts.Requests
		},
		OnStateChange: c.stateChanged,
		IsSuccessful:  func(err error) bool { return !countsAsFailure(err) },
		IsExcluded:    isNeutral,
	})
	return c
}

// lookup queries the vendor within the time limit and retries temporary failures.
func (c *orgClient) lookup(caller context.Context, reference string) (found result, err error) {
	began := time.Now()
	defer func() { c.observe(began, err) }()
	if wait := c.pauseLeft(); wait > 0 {
		return result{}, &statusError{status: http.StatusTooManyRequests, retryAfter: wait}
	}
	ctx, cancel := context.WithTimeoutCause(caller, c.options.TimeLimit, errTimeout)
	defer cancel()
	leave, err := c.acquire(ctx)
	if err != nil {
		return result{}, err
	}
	defer leave()
	once := func() (result, error) { return c.adapter.lookup(ctx, reference) }
	if c.breaker == nil {
		return once()
	}
	got, err := c.breaker.Execute(func() (result, error) {
		got, err := c.retry(ctx, once)
		if err != nil && errors.Is(caller.Err(), context.Canceled) {
			err = context.Canceled
		}
		return got, err
	})
	c.recordPause(err)
	c.recordRejection(err)
	return got, err
}

// acquire waits until the request may be sent. Not being admitted does not count as a
// failure of the vendor.
func (c *orgClient) acquire(ctx context.Context) (leave func(), err error) {
	leave, err = c.requests.Acquire(ctx, admission.Request{Tenant: c.organisation})
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Canceled
	}
	return leave, err
}

// retry retries temporary failures until the time is up. The pauses grow and are
// randomised; the vendor's Retry-After is honoured when it fits into the time limit.
func (c *orgClient) retry(ctx context.Context, once func() (result, error)) (result, error) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = limits.VendorFirstRetry
	waits.MaxInterval = limits.VendorMaxRetry
	return backoff.Retry(ctx, func() (result, error) {
		got, err := once()
		if err != nil && !isRetryable(err) {
			err = backoff.Permanent(err)
		}
		return got, err
	},
		backoff.WithBackOff(waits),
		backoff.WithMaxTries(uint(c.options.Tries)),
		backoff.WithMaxElapsedTime(c.options.TimeLimit),
	)
}

// pauseLeft returns how long the vendor must not be queried.
func (c *orgClient) pauseLeft() time.Duration {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	return time.Until(c.pausedUntil)
}

// recordPause keeps the Retry-After of the vendor. It applies only to this organisation: a
// vendor that means all of them says so to each.
func (c *orgClient) recordPause(err error) {
	status, ok := errors.AsType[*statusError](err)
	if !ok || status.retryAfter <= 0 {
		return
	}
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	c.pausedUntil = time.Now().Add(status.retryAfter)
}

// stateChanged is called with the lock of the breaker held.
func (c *orgClient) stateChanged(_ string, from, to gobreaker.State) {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	switch {
	case to == gobreaker.StateClosed:
		c.failingSince, c.failedProbes = time.Time{}, 0
	case to == gobreaker.StateOpen && from == gobreaker.StateHalfOpen:
		c.failedProbes++
	case to == gobreaker.StateOpen:
		c.failingSince, c.failedProbes = time.Now(), 0
		c.options.Alarm(c.vendor.Code, fmt.Errorf("%w for organisation %q", gobreaker.ErrOpenState, c.organisation))
	}
}

// isOutOfService reports whether the vendor has been failing long enough, with enough
// failed probes.
func (c *orgClient) isOutOfService() bool {
	c.stateMu.Lock()
	defer c.stateMu.Unlock()
	return !c.failingSince.IsZero() && c.failedProbes >= minFailedProbes &&
		time.Since(c.failingSince) >= c.options.OutOfServiceAfter
}
