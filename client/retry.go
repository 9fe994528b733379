package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

const (
	firstPause = 100 * time.Millisecond
	maxPause   = 10 * time.Second
)

// retry calls try until it succeeds, fails for good, or the retry time is over. With once, it
// retries only if the server said that nothing was done.
func (c *Client) retry(ctx context.Context, once bool, try func() error) error {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := try()
		wait, again := retryable(err, once)
		if err == nil || !again || ctx.Err() != nil {
			return err
		}
		// Randomised, so that callers that failed together do not come back together.
		wait = max(wait, pause/2+rand.N(pause)) //nolint:gosec // not security relevant
		if time.Since(began)+wait > c.retryTime {
			return err
		}
		select {
		case <-ctx.Done():
			return err // more informative than the context's error
		case <-time.After(wait):
		}
	}
}

// Temporary reports whether an error may be temporary, and how long the server asks to wait. Use it
// if you retry yourself, such as after an interrupted bulk call.
func Temporary(err error) (wait time.Duration, temporary bool) {
	if _, stopped := errors.AsType[*StoppedError](err); stopped {
		return 0, true
	}
	return retryable(err, false)
}

// retryable reports whether a call may be retried, and how long the server asks to wait.
func retryable(err error, once bool) (wait time.Duration, again bool) {
	if err == nil || errors.Is(err, errNoKey) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return 0, false
	}
	if _, hopeless := errors.AsType[*EndedEarlyError](err); hopeless {
		return 0, false
	}
	refusal, ok := errors.AsType[*Error](err)
	if !ok {
		return 0, !once // the network: it may have been done
	}
	switch refusal.Status {
	case http.StatusTooManyRequests:
		return refusal.RetryAfter, true
	case http.StatusServiceUnavailable, http.StatusBadGateway, http.StatusGatewayTimeout:
		return refusal.RetryAfter, !once // the outcome of a write may be unknown
	}
	return 0, false
}
