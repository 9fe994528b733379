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
)

// persistentProbes is how many probes of an open breaker must have failed
// before trouble counts as persistent: one unlucky request after a quiet night
// is no proof.
const persistentProbes = 3

// lane is one organisation's share of a line: its breaker, its places, and the
// memory of how long things have been going wrong. References that upset a
// vendor, or a crowd of callers at a slow one, are felt by their sender alone.
type lane struct {
	*line
	organisation string
	breaker      *gobreaker.CircuitBreaker[answer] // nil for the sandbox

	state        sync.Mutex
	troubleSince time.Time // when the breaker opened; zero while it is closed
	failedProbes int
	quietUntil   time.Time // the vendor asked us not to come back earlier
}

// newLane makes an organisation's lane. The breaker opens after five failures
// in a row, and also when half of a busy minute fails: a vendor that answers
// now and then is no less in trouble.
func newLane(line *line, organisation string) *lane {
	l := &lane{line: line, organisation: organisation}
	if line.vendor.Adapter == Sandbox {
		return l // its troubles are made up and must not spread from one reference to another
	}
	l.breaker = gobreaker.NewCircuitBreaker[answer](gobreaker.Settings{
		Name:        line.vendor.Code,
		MaxRequests: 1,
		Interval:    time.Minute,
		Timeout:     line.options.PauseFor,
		ReadyToTrip: func(counts gobreaker.Counts) bool {
			return counts.ConsecutiveFailures >= 5 ||
				counts.Requests >= 20 && counts.TotalFailures*2 >= counts.Requests
		},
		OnStateChange: l.stateChanged,
		IsSuccessful:  func(err error) bool { return !isTrouble(err) },
		IsExcluded:    provesNothing,
	})
	return l
}

// ask puts the question within the time limit, again if that may help.
func (l *lane) ask(caller context.Context, reference string) (found answer, err error) {
	began := time.Now()
	defer func() { l.watch(began, err) }()
	if wait := l.quietFor(); wait > 0 {
		return answer{}, &statusError{status: http.StatusTooManyRequests, retryAfter: wait}
	}
	ctx, cancel := context.WithTimeoutCause(caller, l.options.TimeLimit, errTooSlow)
	defer cancel()
	leave, err := l.enter(ctx)
	if err != nil {
		return answer{}, err
	}
	defer leave()
	once := func() (answer, error) { return l.adapter.ask(ctx, reference) }
	if l.breaker == nil {
		return once()
	}
	got, err := l.breaker.Execute(func() (answer, error) {
		got, err := l.repeat(ctx, once)
		if err != nil && errors.Is(caller.Err(), context.Canceled) {
			err = context.Canceled
		}
		return got, err
	})
	l.keepQuiet(err)
	l.remember(err)
	return got, err
}

// enter waits until the question may be asked. Not being admitted is no failure
// of the vendor's.
func (l *lane) enter(ctx context.Context) (leave func(), err error) {
	leave, err = l.questions.Acquire(ctx, admission.Request{Tenant: l.organisation})
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, context.Canceled
	}
	return leave, err
}

// repeat tries until it works, it is hopeless, or time is up. The waits grow
// and are jittered; a vendor's Retry-After is obeyed when it fits in.
func (l *lane) repeat(ctx context.Context, once func() (answer, error)) (answer, error) {
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = 200 * time.Millisecond
	waits.MaxInterval = 2 * time.Second
	return backoff.Retry(ctx, func() (answer, error) {
		got, err := once()
		if err != nil && !worthRepeating(err) {
			err = backoff.Permanent(err)
		}
		return got, err
	},
		backoff.WithBackOff(waits),
		backoff.WithMaxTries(uint(l.options.Tries)),
		backoff.WithMaxElapsedTime(l.options.TimeLimit),
	)
}

// quietFor says how long the vendor still wants to be left alone.
func (l *lane) quietFor() time.Duration {
	l.state.Lock()
	defer l.state.Unlock()
	return time.Until(l.quietUntil)
}

// keepQuiet remembers that the vendor wants to be left alone for a while. Only
// the organisation it was said to obeys: a vendor that means everybody says so
// to everybody.
func (l *lane) keepQuiet(err error) {
	status, ok := errors.AsType[*statusError](err)
	if !ok || status.retryAfter <= 0 {
		return
	}
	l.state.Lock()
	defer l.state.Unlock()
	l.quietUntil = time.Now().Add(status.retryAfter)
}

// stateChanged runs under the breaker's lock.
func (l *lane) stateChanged(_ string, from, to gobreaker.State) {
	l.state.Lock()
	defer l.state.Unlock()
	switch {
	case to == gobreaker.StateClosed:
		l.troubleSince, l.failedProbes = time.Time{}, 0
	case to == gobreaker.StateOpen && from == gobreaker.StateHalfOpen:
		l.failedProbes++
	case to == gobreaker.StateOpen:
		l.troubleSince, l.failedProbes = time.Now(), 0
		l.options.Alarm(l.vendor.Code, fmt.Errorf("%w for organisation %q", gobreaker.ErrOpenState, l.organisation))
	}
}

// isOutOfService reports whether the trouble is old and was looked at often
// enough to be called persistent.
func (l *lane) isOutOfService() bool {
	l.state.Lock()
	defer l.state.Unlock()
	return !l.troubleSince.IsZero() && l.failedProbes >= persistentProbes &&
		time.Since(l.troubleSince) >= l.options.OutOfServiceAfter
}
