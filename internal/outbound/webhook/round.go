package webhook

import (
	"context"
	"sync"
	"time"

	"landfall"
)

// round delivers what was read for one webhook. Events of one account go one
// after the other; different accounts go side by side.
type round struct {
	*Webhooks
	read    *landfall.WebhookRound
	arrived map[int64]bool
	began   time.Time

	mu       sync.Mutex
	fates    map[int64]fate // of what was looked at; the others were not reached
	outcomes map[int64]Outcome
	count    int // that arrived now
	streak   int // of failures without a success in between
	failures int
	closed   bool // nothing new is begun
	tripped  bool
	gone     bool
	asked    time.Duration // the longest Retry-After
	last     Outcome       // the last one worth telling
}

// fate is what became of an event in a round.
type fate uint8

const (
	unreached fate = iota
	dealt          // it arrived, or nobody wants it
	refused        // the attempt failed
	behind         // it has to wait behind another one
)

const (
	// roundLimit is how long a round begins new deliveries; with the last of
	// them it stays far below any lease.
	roundLimit = 10 * time.Second
	// firstTrip is how many failures in a row mean that the receiver is down.
	// After every pause more are tried, so that a few events it chokes on do not
	// hide that it takes all others.
	firstTrip = 8
)

func newRound(w *Webhooks, read *landfall.WebhookRound, arrived map[int64]bool) *round {
	return &round{
		Webhooks: w, read: read, arrived: arrived, began: time.Now(),
		fates: map[int64]fate{}, outcomes: map[int64]Outcome{},
	}
}

// run delivers everything it can and says what is to be written down.
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

// chains gives what is to be delivered, one list for each account, and settles
// what is not.
func (r *round) chains() [][]landfall.Event {
	var chains [][]landfall.Event
	for i := range r.read.Waiting {
		event := r.read.Waiting[i].Event
		if !r.read.Webhook.Wants(event.Type) {
			r.fates[event.ID] = dealt
			continue
		}
		chains = append(chains, []landfall.Event{event})
	}
	places := map[landfall.Key]int{}
	for _, event := range r.read.Events {
		switch {
		case !r.read.Webhook.Wants(event.Type), r.arrived[event.ID]:
			r.fates[event.ID] = dealt
			continue
		case r.read.Blocked[event.Key]:
			r.fates[event.ID] = behind
			continue
		}
		place, known := places[event.Key]
		if !known {
			place = len(chains)
			places[event.Key] = place
			chains = append(chains, nil)
		}
		chains[place] = append(chains[place], event)
	}
	return chains
}

// deliver sends the events of one account in order. When one fails, those
// behind it are not tried.
func (r *round) deliver(ctx context.Context, chain []landfall.Event) {
	for at, event := range chain {
		if r.over(ctx) {
			return
		}
		outcome := r.Sender.Send(ctx, &r.read.Webhook, event)
		if ctx.Err() != nil && !outcome.Arrived() {
			return // our own end is nobody's failure
		}
		if !r.note(event, outcome) {
			r.mu.Lock()
			for _, other := range chain[at+1:] {
				r.fates[other.ID] = behind
			}
			r.mu.Unlock()
			return
		}
	}
}

// over says that nothing new is to be begun.
func (r *round) over(ctx context.Context) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = r.closed || ctx.Err() != nil || time.Since(r.began) > roundLimit
	return r.closed
}

// note takes down what became of an attempt.
func (r *round) note(event landfall.Event, outcome Outcome) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked = max(r.asked, outcome.RetryAfter)
	if outcome.Arrived() {
		r.fates[event.ID], r.arrived[event.ID] = dealt, true
		r.count++
		r.streak = 0
		if r.failures == 0 {
			r.last = outcome
		}
		return true
	}
	r.fates[event.ID], r.outcomes[event.ID], r.last = refused, outcome, outcome
	r.failures++
	r.streak++
	if r.streak >= firstTrip<<min(r.read.Webhook.Attempts, 8) {
		r.closed, r.tripped = true, true
	}
	if outcome.Gone() {
		r.closed, r.gone = true, true
	}
	return false
}
