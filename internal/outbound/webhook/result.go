package webhook

import (
	"time"

	"landfall"
)

// result evaluates a round. When nothing was delivered, or too many deliveries in a row
// failed, the receiver as a whole is failing: its position stays, and a growing pause
// follows. When other events were delivered, only the failed ones are the problem: they
// get rows of their own, and the others go on.
func (r *round) result() landfall.RoundResult {
	failing := r.summary.ReceiverFailing()
	result := landfall.RoundResult{
		Delivered: r.summary.Delivered, RoundFailed: failing, Gone: r.summary.Gone, Status: r.summary.Last.Status, Reason: r.summary.Last.Reason,
		Settled: r.read.Withdrawn, Pause: r.summary.RetryAfter, Took: r.summary.Took,
	}
	if failing {
		result.Pause, _ = r.Schedule.After(r.read.Webhook.Attempts+1, 0, r.summary.RetryAfter)
	}
	r.settleWaiting(&result)
	complete := r.settleNew(&result, failing)
	if failing && complete {
		result.Pause = time.Second // all were given up: go on with later events
	}
	result.KeepClaim = !failing && result.Pause == 0 && (r.read.More || !complete)
	// Forget events before the position.
	for id := range r.arrived {
		if id <= result.Position {
			delete(r.arrived, id)
		}
	}
	return result
}

// settleWaiting evaluates the deliveries that had failed before.
func (r *round) settleWaiting(result *landfall.RoundResult) {
	for _, waiting := range r.read.Waiting {
		switch r.states[waiting.Event.ID] {
		case finished:
			result.Settled = append(result.Settled, waiting.Event.ID)
		case deliveryFailed:
			outcome := r.outcomes[waiting.Event.ID]
			waiting.Attempts++
			waiting.Status, waiting.Reason = outcome.Status, outcome.Reason
			var again bool
			if waiting.Pause, again = r.Schedule.After(waiting.Attempts, r.read.Now.Sub(waiting.FirstAt), outcome.RetryAfter); !again {
				waiting.State = landfall.DeliveryDead
			}
			result.Failed = append(result.Failed, waiting)
		}
	}
}

// settleNew evaluates the new events in the order of the log, up to the first that was
// not tried. It reports whether it reached the end.
func (r *round) settleNew(result *landfall.RoundResult, failing bool) (complete bool) {
	result.Position = r.read.Webhook.Position
	for _, event := range r.read.Events {
		delivery := landfall.Delivery{Event: event, State: landfall.DeliveryWaiting}
		switch state := r.states[event.ID]; {
		case state == finished:
			result.Position = event.ID
			continue
		case state == blocked && r.read.Blocked[event.Key]:
			delivery.Blocked, delivery.Reason = true, "waiting for an earlier event of the account"
		case failing && r.expired(event):
			delivery.State, delivery.Reason, delivery.Status = landfall.DeliveryDead, r.summary.Last.Reason, r.summary.Last.Status
			delivery.Attempts = r.read.Webhook.Attempts + 1
		case failing || state == notTried:
			return false
		case state == blocked:
			delivery.Blocked, delivery.Reason = true, "waiting for an earlier event of the account"
		case state == deliveryFailed:
			outcome := r.outcomes[event.ID]
			delivery.Attempts, delivery.Status, delivery.Reason = 1, outcome.Status, outcome.Reason
			delivery.Pause, _ = r.Schedule.After(1, 0, outcome.RetryAfter)
		}
		result.Failed = append(result.Failed, delivery)
		result.Position = event.ID
	}
	result.Position = max(result.Position, r.read.Through)
	return true
}

// expired reports whether an event has been due for the whole retry period while the
// receiver was failing.
func (r *round) expired(event landfall.Event) bool {
	since := r.read.Webhook.FailingAt
	if since.IsZero() {
		return false
	}
	if event.At.After(since) {
		since = event.At
	}
	return r.read.Now.Sub(since) >= r.Schedule.GiveUp
}
