package webhook

import (
	"time"

	"landfall"
)

// result judges a round. When nothing arrived, or failures went on and on, the
// receiver is in trouble as a whole: its position stays, and it is left alone
// for a while that grows. When other events arrived, it is those that failed
// that are the trouble: they get rows of their own and the others go on.
func (r *round) result() landfall.RoundResult {
	trouble := r.gone || r.tripped || r.failures > 0 && r.count == 0
	result := landfall.RoundResult{
		Delivered: r.count, RoundFailed: trouble, Gone: r.gone, Status: r.last.Status, Reason: r.last.Reason,
		Settled: r.read.Withdrawn, Pause: r.asked, Took: time.Since(r.began),
	}
	if trouble {
		result.Pause, _ = r.Schedule.After(r.read.Webhook.Attempts+1, 0, r.asked)
	}
	r.judgeWaiting(&result)
	complete := r.judgeNew(&result, trouble)
	if trouble && complete {
		result.Pause = time.Second // all of them were given up: on to those behind them
	}
	result.KeepClaim = !trouble && result.Pause == 0 && (r.read.More || !complete)
	// What lies before the position need not be remembered.
	for id := range r.arrived {
		if id <= result.Position {
			delete(r.arrived, id)
		}
	}
	return result
}

// judgeWaiting goes through what had failed before.
func (r *round) judgeWaiting(result *landfall.RoundResult) {
	for _, waiting := range r.read.Waiting {
		switch r.fates[waiting.Event.ID] {
		case dealt:
			result.Settled = append(result.Settled, waiting.Event.ID)
		case refused:
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

// judgeNew goes through the new events in the order of the log as far as each
// of them was dealt with, and says whether that is all of them.
func (r *round) judgeNew(result *landfall.RoundResult, trouble bool) (complete bool) {
	result.Position = r.read.Webhook.Position
	for _, event := range r.read.Events {
		delivery := landfall.Delivery{Event: event, State: landfall.DeliveryWaiting}
		switch fate := r.fates[event.ID]; {
		case fate == dealt:
			result.Position = event.ID
			continue
		case fate == behind && r.read.Blocked[event.Key]:
			delivery.Blocked, delivery.Reason = true, "it waits behind an earlier event of its account"
		case trouble && r.expired(event):
			delivery.State, delivery.Reason, delivery.Status = landfall.DeliveryDead, r.last.Reason, r.last.Status
			delivery.Attempts = r.read.Webhook.Attempts + 1
		case trouble || fate == unreached:
			return false
		case fate == behind:
			delivery.Blocked, delivery.Reason = true, "it waits behind an earlier event of its account"
		case fate == refused:
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

// expired says that an event was due for as long as any event is tried, while
// the receiver was in trouble all the time.
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
