package webhook

import (
	"context"

	"landfall"
	"landfall/internal/outbound/delivery"
)

// round delivers one page of events to one webhook. Events of the same account are
// delivered in order; different accounts in parallel.
type round struct {
	*Dispatcher
	read     *landfall.WebhookRound
	arrived  map[int64]bool
	states   map[int64]eventState // of the events that were handled
	outcomes map[int64]delivery.Outcome
	summary  delivery.Summary
}

// eventState is the result of an event in a round.
type eventState uint8

const (
	notTried       eventState = iota
	finished                  // delivered, or not wanted by the webhook
	deliveryFailed            // the delivery failed
	blocked                   // waits for an earlier event of its account
)

func newRound(w *Dispatcher, read *landfall.WebhookRound, arrived map[int64]bool) *round {
	return &round{
		Dispatcher: w, read: read, arrived: arrived,
		states: map[int64]eventState{}, outcomes: map[int64]delivery.Outcome{},
	}
}

// run delivers as much as it can and returns the result to record.
func (r *round) run(ctx context.Context) landfall.RoundResult {
	attempts := delivery.Round[landfall.Event]{
		Parallel: r.Parallel, Attempts: r.read.Webhook.Attempts,
		Send: func(ctx context.Context, event landfall.Event) (delivery.Outcome, delivery.Verdict) {
			outcome := r.Sender.Send(ctx, &r.read.Webhook, event)
			switch {
			case outcome.Arrived():
				return outcome, delivery.Arrived
			case outcome.Gone():
				return outcome, delivery.Gone
			}
			return outcome, delivery.Failed
		},
		Tried: func(event landfall.Event, outcome delivery.Outcome, verdict delivery.Verdict) {
			if verdict == delivery.Arrived {
				r.states[event.ID], r.arrived[event.ID] = finished, true
				return
			}
			r.states[event.ID], r.outcomes[event.ID] = deliveryFailed, outcome
		},
		Blocked: func(events []landfall.Event) {
			for _, event := range events {
				r.states[event.ID] = blocked
			}
		},
	}
	r.summary = attempts.Run(ctx, r.chains())
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
