// Package delivery is what webhooks and targets have in common: signed requests to
// receivers outside, rounds that deliver one page to a receiver, in order per account
// and side by side between accounts, and how long a replica stays with a receiver.
//
// A receiver has a row with the time when it is due and the number of rounds that
// failed. A replica claims it under a lease by the database's clock, and only the
// holder of the token can record the result of a round.
package delivery

import (
	"context"
	"net/http"
	"sync"
	"time"

	"landfall/internal/lib/limits"
)

// Verdict is what an outcome means for the delivery and those behind it.
type Verdict uint8

// The verdicts. Only after Arrived the later deliveries of the account are tried.
const (
	Arrived Verdict = iota + 1
	Refused         // the receiver is well, but does not want this one
	Failed
	Gone // as Failed, and nothing more is to be tried
)

// Round delivers one page to one receiver.
type Round[T any] struct {
	Parallel int // deliveries at the same time
	Attempts int // rounds that failed before this one
	// Send sends one item.
	Send func(ctx context.Context, item T) (Outcome, Verdict)
	// Tried is told the outcome of each attempt, and Blocked which items were not
	// tried because one before them did not arrive. They are not called at the same
	// time.
	Tried   func(item T, outcome Outcome, verdict Verdict)
	Blocked func(items []T)

	began    time.Time
	mu       sync.Mutex
	streak   int // of failures without a success
	stopping bool
	summary  Summary
}

// Summary is the result of a round.
type Summary struct {
	Delivered  int
	Failures   int
	Unanswered int  // failures that say nothing about the delivery
	Down       bool // too many deliveries in a row failed
	Gone       bool
	RetryAfter time.Duration // the longest that was asked for
	Last       Outcome       // to report
	Took       time.Duration
}

// ReceiverFailing reports whether the receiver as a whole is failing: too many
// deliveries in a row failed, or nothing was delivered and the receiver did not
// answer. A receiver that answers, but with an error, may have trouble with that
// one delivery. Deliveries of other accounts must not wait for it.
func (s *Summary) ReceiverFailing() bool {
	return s.Gone || s.Down || s.Unanswered > 0 && s.Delivered == 0
}

// unanswered reports whether an outcome says that the receiver is away or busy.
func (o Outcome) unanswered() bool {
	switch o.Status {
	case 0, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return o.RetryAfter > 0
}

const (
	// roundLimit is how long a round starts new deliveries. Including the last one it
	// stays far below the lease.
	roundLimit = limits.WebhookRound
	// firstFailureLimit is how many failures in a row mean that the receiver is down.
	// It doubles after every pause, so that a few deliveries that always fail do not
	// hide that the receiver accepts all others.
	firstFailureLimit = 8
)

// Run delivers chains of items, each in order, and returns the result.
func (r *Round[T]) Run(ctx context.Context, chains [][]T) Summary {
	r.began = time.Now()
	queue := make(chan []T)
	var working sync.WaitGroup
	for range min(r.Parallel, len(chains)) {
		working.Go(func() {
			for chain := range queue {
				r.deliver(ctx, chain)
			}
		})
	}
	for _, chain := range chains {
		queue <- chain
	}
	close(queue)
	working.Wait()
	r.summary.Took = time.Since(r.began)
	return r.summary
}

// deliver sends the items of one account in order. When one does not arrive, the
// later ones are not tried.
func (r *Round[T]) deliver(ctx context.Context, chain []T) {
	for at, item := range chain {
		if r.stopped(ctx) {
			return
		}
		outcome, verdict := r.Send(ctx, item)
		if ctx.Err() != nil && outcome.Status == 0 {
			return // our shutdown is not a failure of the receiver
		}
		if !r.record(item, outcome, verdict, chain[at+1:]) {
			return
		}
	}
}

// stopped reports whether to start no new deliveries.
func (r *Round[T]) stopped(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = r.stopping || ctx.Err() != nil || time.Since(r.began) > roundLimit
	return r.stopping
}

// record records the result of an attempt and reports whether it arrived.
func (r *Round[T]) record(item T, outcome Outcome, verdict Verdict, rest []T) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := &r.summary
	s.RetryAfter = max(s.RetryAfter, outcome.RetryAfter)
	r.Tried(item, outcome, verdict)
	switch verdict {
	case Arrived, Refused:
		s.Delivered++
		r.streak = 0
		if s.Failures == 0 {
			s.Last = outcome
		}
	default:
		s.Last = outcome
		s.Failures++
		if outcome.unanswered() {
			s.Unanswered++
		}
		r.streak++
		if r.streak >= firstFailureLimit<<min(r.Attempts, 8) {
			r.stopping, s.Down = true, true
		}
		if verdict == Gone {
			r.stopping, s.Gone = true, true
		}
	}
	if verdict == Arrived {
		return true
	}
	r.Blocked(rest)
	return false
}

const (
	firstPage = 32
	maxPage   = 512
	minPage   = 8
	// Rounds faster than fastRound make pages larger, rounds slower than slowRound
	// smaller, so that few deliveries are repeated when a replica dies.
	fastRound = limits.WebhookFastRound
	slowRound = limits.WebhookSlowRound
)

// Serve runs rounds for one receiver until one says that there is no other. The size
// of the pages follows how long the rounds take.
func Serve(round func(page int) (took time.Duration, more bool)) {
	for size := firstPage; ; {
		took, more := round(size)
		if !more {
			return
		}
		switch {
		case took > slowRound:
			size = max(size/2, minPage)
		case took < fastRound:
			size = min(2*size, maxPage)
		}
	}
}
