package bulk

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/lib/limits"
)

// remedy is what to do with an answer.
type remedy uint8

const (
	tell     remedy = iota // send it as the result of the line
	tryAgain               // nothing was done, because something was unavailable that may come back
	stopNow                // other lines would fail too, or the outcome is unknown
)

// remedyFor chooses the remedy. A client retries a single call when asked to;
// the lines of a bulk request are retried here.
func remedyFor(given answer.Answer) remedy {
	switch given.Status {
	case http.StatusUnauthorized:
		return stopNow // the key was revoked during the request
	case http.StatusTooManyRequests:
		return tryAgain
	case http.StatusServiceUnavailable:
		if given.Code != landfall.CodeServiceUnavailable {
			return tell // something else is unavailable, such as the file store
		}
		for _, unsure := range []error{landfall.ErrUnknownOutcome, context.DeadlineExceeded, context.Canceled} {
			if errors.Is(given.Cause, unsure) {
				return stopNow
			}
		}
		return tryAgain
	}
	return tell
}

// errorOf returns the reason in an answer.
func errorOf(given answer.Answer) *landfall.Error {
	if known, is := errors.AsType[*landfall.Error](given.Cause); is {
		return known
	}
	return errShuttingDown
}

// errShuttingDown stops requests when the service shuts down.
var errShuttingDown = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
	Detail: "The service is shutting down. Send the lines from next_line on again.",
}

// errClientGone stops requests whose client has disconnected.
var errClientGone = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: "The connection broke.",
}

const (
	// unavailableTimeout is how long a request waits for the database while none of its
	// lines is completed. Overload alone does not end a request, because it
	// passes.
	unavailableTimeout = limits.BulkDatabaseWait
	// quotaTimeout is how long a request waits while too many accounts are being
	// created at once.
	quotaTimeout = limits.BulkQuotaWait
)

// backoff records since when a line has been retried, and the next pause.
type backoff struct {
	since time.Time
	next  time.Duration
}

// pause waits before a line is tried again, or returns why it will not be.
func (b *backoff) pause(t *stream, given answer.Answer) *landfall.Error {
	if b.since.IsZero() {
		b.since, b.next = time.Now(), limits.BulkFirstRetry
	}
	timeout := quotaTimeout
	if given.Status == http.StatusServiceUnavailable {
		timeout = unavailableTimeout
	}
	since := b.since
	if last := time.UnixMicro(t.lastDone.Load()); last.After(since) {
		since = last // other lines are completed, so this one will be too
	}
	if time.Since(since) > timeout {
		return errorOf(given)
	}
	time.Sleep(b.next/2 + rand.N(b.next)) //nolint:gosec // only to come at another time than the others
	b.next = min(2*b.next, limits.BulkMaxRetry)
	return t.stopping()
}
