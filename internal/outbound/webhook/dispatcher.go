// Package webhook delivers committed events to webhooks, at least once. Any
// replica can claim a webhook under a lease. Failed deliveries are retried with
// growing pauses that survive restarts; after three days they go to a list that
// an operator can read and replay.
//
// All state is in the database, so a killed process loses nothing. A waiting
// row has the time when it is due and the number of attempts. A replica that
// claims it gets a lease by the database's clock and a token, and only the
// holder of the token can record the result.
package webhook

import (
	"context"
	"errors"
	"log/slog"
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
	Watcher      *LogWatcher
	Log          *slog.Logger
	Schedule     worker.Schedule // default threeDays
	Lease        time.Duration   // of a webhook; default one minute
	TimeSlice    time.Duration   // how long one webhook is served before others; default 5 seconds
	PollInterval time.Duration   // between claims; default 2 seconds
	Concurrency  int             // webhooks served at the same time; default 256
	Parallel     int             // deliveries of one webhook at the same time; default 8
}

// Store is the part of the store that a Dispatcher uses.
type Store interface {
	landfall.WebhookQueue
	EventSource
}

// Dispatcher delivers events to the webhooks of all organisations. Any number of replicas
// may run it: each webhook is served by the one that holds its claim.
type Dispatcher struct {
	DispatcherOptions
	store Store
	pool  *worker.Pool[landfall.WebhookClaim]
	watch *Watch // while there is an active webhook

	delivered, failed, died, gone atomic.Int64
}

// threeDays is the schedule of webhooks: about thirty attempts, first after seconds and
// finally every four hours.
var threeDays = worker.Schedule{First: limits.WebhookFirstRetry, Longest: limits.WebhookMaxRetry, GiveUp: limits.WebhookGiveUp}

// NewDispatcher returns a dispatcher over a store.
func NewDispatcher(store Store, options DispatcherOptions) *Dispatcher {
	if options.Schedule == (worker.Schedule{}) {
		options.Schedule = threeDays
	}
	if options.Lease <= 0 {
		options.Lease = limits.WebhookLease
	}
	if options.TimeSlice <= 0 {
		options.TimeSlice = limits.WebhookTimeSlice
	}
	if options.PollInterval <= 0 {
		options.PollInterval = limits.WebhookPoll
	}
	if options.Concurrency <= 0 {
		options.Concurrency = 256
	}
	if options.Parallel <= 0 {
		options.Parallel = 8
	}
	w := &Dispatcher{DispatcherOptions: options, store: store}
	w.pool = &worker.Pool[landfall.WebhookClaim]{
		Name: "webhooks", Concurrency: options.Concurrency, PollInterval: options.PollInterval, Claim: w.claim, Do: w.serve, Log: options.Log,
	}
	return w
}

// Run delivers until the context ends, and then waits for deliveries in progress.
func (w *Dispatcher) Run(ctx context.Context) {
	w.pool.Run(ctx)
	if w.watch != nil {
		w.watch.Close()
	}
}

// claim takes webhooks that are due. While there are active webhooks, new events wake the
// pool. Only the pool calls claim.
func (w *Dispatcher) claim(ctx context.Context, limit int) ([]landfall.WebhookClaim, error) {
	complete, err := w.Watcher.CompleteUpTo(ctx)
	if err != nil {
		return nil, err
	}
	claims, active, err := w.store.ClaimWebhooks(ctx, landfall.WebhookClaimRequest{UpTo: complete, Most: limit, Lease: w.Lease})
	if err != nil {
		return nil, err
	}
	switch {
	case active > 0 && w.watch == nil:
		w.watch = w.Watcher.WatchFunc(nil, w.pool.Wake)
		w.pool.Wake() // for events before the watch
	case active == 0 && w.watch != nil:
		w.watch.Close()
		w.watch = nil
	}
	return claims, nil
}

// serve delivers to one webhook, round after round, until nothing is left or its time
// slice ends.
func (w *Dispatcher) serve(ctx context.Context, claim landfall.WebhookClaim) {
	ends := time.Now().Add(w.TimeSlice)
	arrived := map[int64]bool{} // after the position, in this time slice
	delivery.Serve(func(page int) (time.Duration, bool) {
		complete, err := w.Watcher.CompleteUpTo(ctx)
		if err != nil {
			return 0, false // the lease expires
		}
		read, err := w.store.WebhookRound(ctx, claim, complete, page)
		if err != nil {
			if !errors.Is(err, landfall.ErrFenced) && ctx.Err() == nil {
				w.Log.Warn("cannot serve webhook", "webhook", claim.Name, "error", err)
			}
			return 0, false
		}
		result := newRound(w, &read, arrived).run(ctx)
		result.Lease = w.Lease
		result.KeepClaim = result.KeepClaim && time.Now().Before(ends) && ctx.Err() == nil
		return result.Took, w.record(ctx, claim, &read, result) && result.KeepClaim
	})
}

// record records the result of a round, also during a shutdown.
func (w *Dispatcher) record(ctx context.Context, claim landfall.WebhookClaim, read *landfall.WebhookRound, result landfall.RoundResult) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.WebhookRecord)
	defer cancel()
	if err := w.store.SaveRound(ctx, claim, result); err != nil {
		// Delivered events will be sent again, which receivers must expect.
		if !errors.Is(err, landfall.ErrFenced) {
			w.Log.Warn("cannot record webhook deliveries; they will be sent again", "webhook", claim.Name, "error", err)
		}
		return false
	}
	dead := 0
	for i := range result.Failed {
		if result.Failed[i].State == landfall.DeliveryDead {
			dead++
		}
	}
	w.delivered.Add(int64(result.Delivered))
	w.failed.Add(int64(len(result.Failed) - dead))
	w.died.Add(int64(dead))
	if result.RoundFailed && read.Webhook.Attempts == 0 {
		w.Log.Warn("webhook receiver is failing", "webhook", claim.Name, "reason", result.Reason)
	}
	if dead > 0 {
		w.Log.Error("webhook events given up after three days", "webhook", claim.Name, "events", dead, "reason", result.Reason)
	}
	if result.Gone {
		w.gone.Add(1)
		w.Log.Error("webhook switched off because its receiver replied 410 Gone", "webhook", claim.Name)
	}
	return true
}

// Counts holds the totals of this replica since its start.
type Counts struct{ Delivered, Failed, Dead, Gone int64 }

// Counts returns the totals so far.
func (w *Dispatcher) Counts() Counts {
	return Counts{w.delivered.Load(), w.failed.Load(), w.died.Load(), w.gone.Load()}
}
