package webhook

import (
	"context"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// round delivers one page of events to one webhook. Events of the same account are
// delivered in order; different accounts in parallel.
type round struct {
	*Dispatcher
	read    *landfall.WebhookRound
	arrived map[int64]bool
	began   time.Time

	mu           sync.Mutex
	states       map[int64]eventState // of the events that were handled
	outcomes     map[int64]Outcome
	delivered    int // in this round
	streak       int // of failures without a success
	failures     int
	stopping     bool // start no new deliveries
	receiverDown bool
	gone         bool
	retryAfter   time.Duration // the longest that was asked for
	last         Outcome       // to report
}

// eventState is the result of an event in a round.
type eventState uint8

const (
	notTried       eventState = iota
	finished                  // delivered, or not wanted by the webhook
	deliveryFailed            // the delivery failed
	blocked                   // waits for an earlier event of its account
)

const (
	// roundLimit is how long a round starts new deliveries. Including the last one it
	// stays far below the lease.
	roundLimit = limits.WebhookRound
	// firstFailureLimit is how many failures in a row mean that the receiver is down.
	// It doubles after every pause, so that a few events that always fail do not hide
	// that the receiver accepts all others.
	firstFailureLimit = 8
)

func newRound(w *Dispatcher, read *landfall.WebhookRound, arrived map[int64]bool) *round {
	return &round{
		Dispatcher: w, read: read, arrived: arrived, began: time.Now(),
		states: map[int64]eventState{}, outcomes: map[int64]Outcome{},
	}
}

// run delivers as much as it can and returns the result to record.
func (r *round) run(ctx context.Context) landfall.RoundResult {
	chains := make(chan []landfall.Event)
	var working sync.WaitGroup
	for range r.Parallel {
		working.Go(func() {
			for chain := range chains {
				r.deliver(ctx, chain)
			}
		})
	}
	for _, chain := range r.chains() {
		chains <- chain
	}
	close(chains)
	working.Wait()
	return r.result()
}

// chains returns the events to deliver, one list per account, and marks the others.
func (r *round) chains() [][]landfall.Event {
	var chains [][]landfall.Event
	for i := range r.read.Waiting {
		event := r.read.Waiting[i].Event
		if !r.read.Webhook.Wants(event.Type) {
			r.states[event.ID] = finished
			continue
		}
		chains = append(chains, []landfall.Event{event})
	}
	indexes := map[landfall.Key]int{}
	for _, event := range r.read.Events {
		switch {
		case !r.read.Webhook.Wants(event.Type), r.arrived[event.ID]:
			r.states[event.ID] = finished
			continue
		case r.read.Blocked[event.Key]:
			r.states[event.ID] = blocked
			continue
		}
		index, known := indexes[event.Key]
		if !known {
			index = len(chains)
			indexes[event.Key] = index
			chains = append(chains, nil)
		}
		chains[index] = append(chains[index], event)
	}
	return chains
}

// deliver sends the events of one account in order. When one fails, the later ones
// are not tried.
func (r *round) deliver(ctx context.Context, chain []landfall.Event) {
	for at, event := range chain {
		if r.stopped(ctx) {
			return
		}
		outcome := r.Sender.Send(ctx, &r.read.Webhook, event)
		if ctx.Err() != nil && !outcome.Arrived() {
			return // our shutdown is not a failure of the receiver
		}
		if !r.record(event, outcome) {
			r.mu.Lock()
			for _, other := range chain[at+1:] {
				r.states[other.ID] = blocked
			}
			r.mu.Unlock()
			return
		}
	}
}

// stopped reports whether to start no new deliveries.
func (r *round) stopped(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = r.stopping || ctx.Err() != nil || time.Since(r.began) > roundLimit
	return r.stopping
}

// record records the result of an attempt and reports whether it succeeded.
func (r *round) record(event landfall.Event, outcome Outcome) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.retryAfter = max(r.retryAfter, outcome.RetryAfter)
	if outcome.Arrived() {
		r.states[event.ID], r.arrived[event.ID] = finished, true
		r.delivered++
		r.streak = 0
		if r.failures == 0 {
			r.last = outcome
		}
		return true
	}
	r.states[event.ID], r.outcomes[event.ID], r.last = deliveryFailed, outcome, outcome
	r.failures++
	r.streak++
	if r.streak >= firstFailureLimit<<min(r.read.Webhook.Attempts, 8) {
		r.stopping, r.receiverDown = true, true
	}
	if outcome.Gone() {
		r.stopping, r.gone = true, true
	}
	return false
}
