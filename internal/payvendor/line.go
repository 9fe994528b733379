package payvendor

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/sony/gobreaker/v2"

	"landfall"
)

// adapter speaks one vendor's language.
type adapter interface {
	// ask fetches an instruction once. It answers errMissing when the vendor
	// says that there is none; other failures are those of the courier.
	ask(ctx context.Context, reference string) (answer, error)
}

// answer is what a vendor said.
type answer struct {
	types   []string // the instruction types it can count as
	active  bool
	details landfall.InstructionDetails
}

// persistentProbes is how many probes of an open breaker must have failed
// before trouble counts as persistent: one unlucky request after a quiet night
// is no proof.
const persistentProbes = 3

// line is the way to one vendor: its adapter, its breaker, and the memory of
// how long things have been going wrong.
type line struct {
	vendor  landfall.Vendor
	options Options
	client  *http.Client
	adapter adapter
	breaker *gobreaker.CircuitBreaker[answer] // nil for the sandbox

	mu           sync.Mutex
	troubleSince time.Time // when the breaker opened; zero while it is closed
	failedProbes int
	quietUntil   time.Time // the vendor asked us not to come back earlier
	refusing     bool      // the vendor refuses us, and the operator was told
}

// newLine makes the way to a vendor. The breaker opens after five failures in
// a row, and also when half of a busy minute fails: a vendor that answers now
// and then is no less in trouble.
func newLine(vendor landfall.Vendor, options Options, client *http.Client, adapter adapter) *line {
	l := &line{vendor: vendor, options: options, client: client, adapter: adapter}
	if vendor.Adapter == Sandbox {
		return l // its troubles are made up and must not spread from one reference to another
	}
	l.breaker = gobreaker.NewCircuitBreaker[answer](gobreaker.Settings{
		Name:        vendor.Code,
		MaxRequests: 1,
		Interval:    time.Minute,
		Timeout:     options.PauseFor,
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
func (l *line) ask(caller context.Context, reference string) (answer, error) {
	if wait := l.quietFor(); wait > 0 {
		return answer{}, &statusError{status: http.StatusTooManyRequests, retryAfter: wait}
	}
	ctx, cancel := context.WithTimeoutCause(caller, l.options.TimeLimit, errTooSlow)
	defer cancel()
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
	l.remember(err)
	return got, err
}

// repeat tries until it works, it is hopeless, or time is up. The waits grow
// and are jittered; a vendor's Retry-After is obeyed when it fits in.
func (l *line) repeat(ctx context.Context, once func() (answer, error)) (answer, error) {
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
func (l *line) quietFor() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Until(l.quietUntil)
}

// remember keeps what a call taught us for the calls to come.
func (l *line) remember(err error) {
	l.mu.Lock()
	var status *statusError
	if errors.As(err, &status) && status.retryAfter > 0 {
		l.quietUntil = time.Now().Add(status.retryAfter)
	}
	refusing := err != nil && isRefusal(err)
	alarm := refusing && !l.refusing
	if refusing || err == nil {
		l.refusing = refusing
	}
	l.mu.Unlock()
	if alarm {
		l.options.Alarm(l.vendor.Code, plain(err))
	}
}

// stateChanged runs under the breaker's lock.
func (l *line) stateChanged(_ string, from, to gobreaker.State) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case to == gobreaker.StateClosed:
		l.troubleSince, l.failedProbes = time.Time{}, 0
	case to == gobreaker.StateOpen && from == gobreaker.StateHalfOpen:
		l.failedProbes++
	case to == gobreaker.StateOpen:
		l.troubleSince, l.failedProbes = time.Now(), 0
		l.options.Alarm(l.vendor.Code, gobreaker.ErrOpenState)
	}
}

// isOutOfService reports whether the trouble is old and was looked at often
// enough to be called persistent.
func (l *line) isOutOfService() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.troubleSince.IsZero() && l.failedProbes >= persistentProbes &&
		time.Since(l.troubleSince) >= l.options.OutOfServiceAfter
}
