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

// retry tries until it works, fails for good, or patience is over. A call that
// must not come twice is repeated only when the server said it was not done.
func (c *Client) retry(ctx context.Context, once bool, try func() error) error {
	began := time.Now()
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		err := try()
		wait, again := retryable(err, once)
		if err == nil || !again || ctx.Err() != nil {
			return err
		}
		// Some chance, so that callers who failed together do not come back together.
		wait = max(wait, pause/2+rand.N(pause)) //nolint:gosec // nobody gains by guessing it
		if time.Since(began)+wait > c.retryTime {
			return err
		}
		select {
		case <-ctx.Done():
			return err // what went wrong says more than that time ran out
		case <-time.After(wait):
		}
	}
}

// Temporary reports whether an error of a call may pass by itself, and how long
// the server asks to be left alone. It is for those who repeat themselves, as
// after a bulk call that broke off.
func Temporary(err error) (wait time.Duration, temporary bool) {
	if _, stopped := errors.AsType[*StoppedError](err); stopped {
		return 0, true
	}
	return retryable(err, false)
}

// retryable tells what may pass by itself, and how long the server asks to
// be left alone.
func retryable(err error, once bool) (wait time.Duration, again bool) {
	if err == nil || errors.Is(err, errNoKey) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
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
		return refusal.RetryAfter, !once // the outcome of a write may be what is unknown
	}
	return 0, false
}
