package target

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/lib/worker"
	"landfall/internal/outbound/delivery"
)

// DispatcherOptions configures a Dispatcher; zero values mean the defaults.
type DispatcherOptions struct {
	Sender       *Sender
	Log          *slog.Logger
	Schedule     worker.Schedule // default forEver
	Lease        time.Duration   // of a target; default one minute
	TimeSlice    time.Duration   // how long one target is served before others; default 5 seconds
	PollInterval time.Duration   // between claims; default half a second
	Concurrency  int             // targets served at the same time; default 64
}

// forEver is the schedule of targets: nothing is given up.
var forEver = worker.Schedule{First: limits.TargetFirstRetry, Longest: limits.TargetMaxRetry, GiveUp: 1 << 62}

// Dispatcher delivers to all targets. Any number of replicas may run it: each target
// is served by the one that holds its claim.
type Dispatcher struct {
	DispatcherOptions
	store landfall.TargetQueue
	pool  *worker.Pool[landfall.TargetClaim]

	delivered, failed, refused atomic.Int64
}

// NewDispatcher returns a dispatcher over a store.
func NewDispatcher(store landfall.TargetQueue, options DispatcherOptions) *Dispatcher {
	if options.Schedule == (worker.Schedule{}) {
		options.Schedule = forEver
	}
	if options.Lease <= 0 {
		options.Lease = limits.TargetLease
	}
	if options.TimeSlice <= 0 {
		options.TimeSlice = limits.WebhookTimeSlice
	}
	if options.PollInterval <= 0 {
		options.PollInterval = limits.TargetPoll
	}
	if options.Concurrency <= 0 {
		options.Concurrency = 64
	}
	d := &Dispatcher{DispatcherOptions: options, store: store}
	d.pool = &worker.Pool[landfall.TargetClaim]{
		Name: "targets", Concurrency: options.Concurrency, PollInterval: options.PollInterval, Do: d.serve, Log: options.Log,
		Claim: func(ctx context.Context, limit int) ([]landfall.TargetClaim, error) {
			return store.ClaimTargets(ctx, limit, d.Lease)
		},
	}
	return d
}

// Run delivers until the context ends, and then waits for deliveries in progress.
func (d *Dispatcher) Run(ctx context.Context) { d.pool.Run(ctx) }

// serve delivers to one target, round after round, until nothing is left or its time
// slice ends.
func (d *Dispatcher) serve(ctx context.Context, claim landfall.TargetClaim) {
	ends := time.Now().Add(d.TimeSlice)
	delivery.Serve(func(page int) (time.Duration, bool) {
		read, err := d.store.TargetRound(ctx, claim, page)
		if err != nil {
			if !errors.Is(err, landfall.ErrFenced) && ctx.Err() == nil {
				d.Log.Warn("cannot serve target", "target", claim.Code, "error", err)
			}
			return 0, false
		}
		result, took := d.round(ctx, &read)
		result.Lease = d.Lease
		result.KeepClaim = result.KeepClaim && ctx.Err() == nil
		// Another target may wait for this worker; this one is due again at once.
		again := result.KeepClaim && time.Now().Before(ends)
		result.KeepClaim = again
		return took, d.record(ctx, claim, &read, result) && again
	})
	d.pool.Wake()
}

// round delivers one page and returns the result to record.
func (d *Dispatcher) round(ctx context.Context, read *landfall.TargetRound) (landfall.TargetRoundResult, time.Duration) {
	result := landfall.TargetRoundResult{Blocked: read.Blocked}
	var mu sync.Mutex
	answers := map[*landfall.TargetDelivery]Answer{}
	attempts := delivery.Round[*landfall.TargetDelivery]{
		Parallel: read.Target.AtOnce, Attempts: read.Target.Attempts,
		Send: func(ctx context.Context, one *landfall.TargetDelivery) (delivery.Outcome, delivery.Verdict) {
			answer := d.Sender.Send(ctx, &read.Target, one)
			mu.Lock()
			answers[one] = answer
			mu.Unlock()
			one.Account, one.Lists = nil, landfall.AccountLists{} // free the memory
			verdict := answer.Verdict
			if answer.Pending {
				verdict = delivery.Refused // it is well, but the next one has to wait
			}
			return answer.Outcome, verdict
		},
		Tried: func(one *landfall.TargetDelivery, _ delivery.Outcome, _ delivery.Verdict) {
			mu.Lock()
			answer := answers[one]
			mu.Unlock()
			result.Results = append(result.Results, d.resultOf(one, answer))
		},
		Blocked: func([]*landfall.TargetDelivery) {}, // the next round finds them
	}
	chains := make([][]*landfall.TargetDelivery, len(read.Chains))
	count := 0
	for i, chain := range read.Chains {
		for j := range chain {
			chains[i] = append(chains[i], &chain[j])
		}
		count += len(chain)
	}
	summary := attempts.Run(ctx, chains)
	result.RoundFailed, result.Pause = summary.ReceiverFailing(), summary.RetryAfter
	if summary.Failures > 0 {
		result.Status, result.Reason = summary.Last.Status, summary.Last.Reason
	}
	if result.RoundFailed {
		result.Pause, _ = d.Schedule.After(read.Target.Attempts+1, 0, summary.RetryAfter)
	}
	for i := range result.Results {
		one := &result.Results[i]
		switch {
		case one.State == landfall.TargetDelivered:
			result.Delivered++
		case one.State == landfall.TargetWaiting && result.RoundFailed:
			one.Pause = 0 // the target pauses, not the delivery
		}
	}
	result.KeepClaim = !result.RoundFailed && result.Pause == 0 && (read.More || len(result.Results) < count || len(read.Blocked) > 0)
	return result, summary.Took
}

// resultOf says what becomes of a delivery.
func (d *Dispatcher) resultOf(one *landfall.TargetDelivery, answer Answer) landfall.TargetResult {
	result := landfall.TargetResult{Delivery: one, Status: answer.Status, Reply: answer.Words, TargetID: answer.TargetID}
	switch {
	case answer.Verdict == delivery.Arrived && answer.Pending:
		result.State = landfall.TargetPending
	case answer.Verdict == delivery.Arrived:
		result.State = landfall.TargetDelivered
	case answer.Verdict == delivery.Refused:
		result.State = landfall.TargetRefused
	default:
		result.State = landfall.TargetWaiting
		result.Pause, _ = d.Schedule.After(one.Attempts+1, 0, answer.RetryAfter)
	}
	return result
}

// record records the result of a round, also during a shutdown.
func (d *Dispatcher) record(ctx context.Context, claim landfall.TargetClaim, read *landfall.TargetRound, result landfall.TargetRoundResult) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.WebhookRecord)
	defer cancel()
	if err := d.store.SaveTargetRound(ctx, claim, result); err != nil {
		// What was delivered will be sent again, with the same keys.
		if !errors.Is(err, landfall.ErrFenced) {
			d.Log.Warn("cannot record deliveries to a target; they will be sent again", "target", claim.Code, "error", err)
		}
		return false
	}
	refused := 0
	for i := range result.Results {
		switch result.Results[i].State {
		case landfall.TargetRefused:
			refused++
		case landfall.TargetWaiting:
			d.failed.Add(1)
		}
	}
	d.delivered.Add(int64(result.Delivered))
	d.refused.Add(int64(refused))
	if result.RoundFailed && read.Target.Attempts == 0 {
		d.Log.Warn("target is failing", "target", claim.Code, "reason", result.Reason)
	}
	if refused > 0 {
		d.Log.Warn("target refused deliveries", "target", claim.Code, "deliveries", refused)
	}
	return true
}

// Counts holds the totals of this replica since its start.
type Counts struct{ Delivered, Failed, Refused int64 }

// Counts returns the totals so far.
func (d *Dispatcher) Counts() Counts {
	return Counts{d.delivered.Load(), d.failed.Load(), d.refused.Load()}
}
