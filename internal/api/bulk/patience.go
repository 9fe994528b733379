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
	tell     remedy = iota // it is the line's own
	tryAgain               // nothing was done for want of something that may come
	stopNow                // no other line would fare better, or nobody knows what was done
)

// remedyFor decides. A single caller that is told to come back does; the lines
// of a bulk request come back by themselves.
func remedyFor(given answer.Answer) remedy {
	switch given.Status {
	case http.StatusUnauthorized:
		return stopNow // the key was revoked meanwhile
	case http.StatusTooManyRequests:
		return tryAgain
	case http.StatusServiceUnavailable:
		if given.Code != landfall.CodeServiceUnavailable {
			return tell // of somebody else's, such as the file store
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

// told is the reason in an answer.
func told(given answer.Answer) *landfall.Error {
	if known, is := errors.AsType[*landfall.Error](given.Cause); is {
		return known
	}
	return errShuttingDown
}

// errShuttingDown stops requests when the service ends.
var errShuttingDown = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
	Detail: "The service is shutting down. Send the lines from next_line on again.",
}

// errClientGone stops requests whose sender has left.
var errClientGone = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: "The connection broke.",
}

const (
	// awayPatience is how long a request waits for the database when none of its
	// lines gets on. Too much work is no reason to end: it passes.
	awayPatience = limits.BulkDatabaseWait
	// fullPatience is how long it waits for a place among the accounts that are
	// created at once.
	fullPatience = limits.BulkQuotaWait
)

// A line waits so long before it is tried again.
const (
	firstPause   = limits.BulkFirstRetry
	longestPause = limits.BulkMaxRetry
)

// backoff is how often a line has been tried, and since when.
type backoff struct {
	since time.Time
	next  time.Duration
}

// pause waits before a line is tried again, or says why it will not be.
func (b *backoff) pause(t *stream, given answer.Answer) *landfall.Error {
	if b.since.IsZero() {
		b.since, b.next = time.Now(), firstPause
	}
	patience := fullPatience
	if given.Status == http.StatusServiceUnavailable {
		patience = awayPatience
	}
	since := b.since
	if last := time.UnixMicro(t.lastDone.Load()); last.After(since) {
		since = last // others get on, so this one will
	}
	if time.Since(since) > patience {
		return told(given)
	}
	time.Sleep(b.next/2 + rand.N(b.next)) //nolint:gosec // only to come at another time than the others
	b.next = min(2*b.next, longestPause)
	return t.stopping()
}
