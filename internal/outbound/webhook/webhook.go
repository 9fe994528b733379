package webhook

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"landfall"
)

// WebhookOptions says how webhooks are served; zero values mean the defaults.
type WebhookOptions struct {
	Sender   *Sender
	Tide     *Tide
	Log      *slog.Logger
	Schedule Schedule      // ThreeDays
	Lease    time.Duration // of a webhook; a minute
	Turn     time.Duration // how long one is served before others get a turn; 5 seconds
	Look     time.Duration // how often to look for what is due again; 2 seconds
	AtOnce   int           // webhooks served at the same time; 256
	Parallel int           // deliveries of one webhook under way; 8
}

// WebhookStore is where webhooks are kept.
type WebhookStore interface {
	landfall.WebhookQueue
	Log
}

// Webhooks delivers events to the webhooks of all organisations. Any number of
// replicas may run it: each webhook is served by the one that has its claim.
type Webhooks struct {
	WebhookOptions
	store WebhookStore
	crew  *Crew[landfall.WebhookClaim]
	watch *Watch // while there is an active webhook

	delivered, failed, died, gone atomic.Int64
}

// NewWebhooks makes the service of webhooks over a store.
func NewWebhooks(store WebhookStore, options WebhookOptions) *Webhooks {
	if options.Schedule == (Schedule{}) {
		options.Schedule = ThreeDays
	}
	if options.Lease <= 0 {
		options.Lease = time.Minute
	}
	if options.Turn <= 0 {
		options.Turn = 5 * time.Second
	}
	if options.Look <= 0 {
		options.Look = 2 * time.Second
	}
	if options.AtOnce <= 0 {
		options.AtOnce = 256
	}
	if options.Parallel <= 0 {
		options.Parallel = 8
	}
	w := &Webhooks{WebhookOptions: options, store: store}
	w.crew = &Crew[landfall.WebhookClaim]{
		Name: "webhooks", AtOnce: options.AtOnce, Look: options.Look, Claim: w.claim, Do: w.serve, Log: options.Log,
	}
	return w
}

// Run delivers until the context ends, and then waits for what is under way.
func (w *Webhooks) Run(ctx context.Context) {
	w.crew.Run(ctx)
	if w.watch != nil {
		w.watch.Close()
	}
}

// claim takes webhooks that are due. While there are any to deliver to, new
// events wake the crew; only the crew calls this.
func (w *Webhooks) claim(ctx context.Context, most int) ([]landfall.WebhookClaim, error) {
	complete, err := w.Tide.Settled(ctx)
	if err != nil {
		return nil, err
	}
	claims, active, err := w.store.ClaimWebhooks(ctx, landfall.WebhookClaimRequest{UpTo: complete, Most: most, Lease: w.Lease})
	if err != nil {
		return nil, err
	}
	switch {
	case active > 0 && w.watch == nil:
		w.watch = w.Tide.Call(nil, w.crew.Wake)
		w.crew.Wake() // what came before the watch began
	case active == 0 && w.watch != nil:
		w.watch.Close()
		w.watch = nil
	}
	return claims, nil
}

const (
	firstPage    = 32
	largestPage  = 512
	smallestPage = 8
	// quickRound and slowRound make pages longer and shorter, so that little is
	// sent again when a round is lost with its replica.
	quickRound = 500 * time.Millisecond
	slowRound  = 2 * time.Second
	// keepLimit bounds writing down what became of a round.
	keepLimit = 10 * time.Second
)

// serve delivers to one webhook, round after round, until there is nothing left
// or others want their turn.
func (w *Webhooks) serve(ctx context.Context, claim landfall.WebhookClaim) {
	ends := time.Now().Add(w.Turn)
	arrived := map[int64]bool{} // beyond the position, in this turn
	for size := firstPage; ; {
		complete, err := w.Tide.Settled(ctx)
		if err != nil {
			return // the lease ends by itself
		}
		read, err := w.store.WebhookRound(ctx, claim, complete, size)
		if err != nil {
			if !errors.Is(err, landfall.ErrFenced) && ctx.Err() == nil {
				w.Log.Warn("a webhook cannot be served now", "webhook", claim.Name, "error", err)
			}
			return
		}
		round := newRound(w, &read, arrived)
		result := round.run(ctx)
		result.Lease = w.Lease
		result.KeepClaim = result.KeepClaim && time.Now().Before(ends) && ctx.Err() == nil
		if !w.keep(ctx, claim, &read, result) || !result.KeepClaim {
			return
		}
		switch {
		case result.Took > slowRound:
			size = max(size/2, smallestPage)
		case result.Took < quickRound:
			size = min(2*size, largestPage)
		}
	}
}

// keep writes down what became of a round, also when the end has come.
func (w *Webhooks) keep(ctx context.Context, claim landfall.WebhookClaim, read *landfall.WebhookRound, result landfall.RoundResult) bool {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), keepLimit)
	defer cancel()
	if err := w.store.SaveRound(ctx, claim, result); err != nil {
		// What arrived will arrive again, which receivers expect.
		if !errors.Is(err, landfall.ErrFenced) {
			w.Log.Warn("what a webhook was told is not written down", "webhook", claim.Name, "error", err)
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
		w.Log.Warn("the receiver of a webhook is in trouble", "webhook", claim.Name, "reason", result.Reason)
	}
	if dead > 0 {
		w.Log.Error("events could not be delivered in three days", "webhook", claim.Name, "events", dead, "reason", result.Reason)
	}
	if result.Gone {
		w.gone.Add(1)
		w.Log.Error("a webhook was switched off: its receiver says that it is gone", "webhook", claim.Name)
	}
	return true
}

// Counts are figures of this replica since it began.
type Counts struct{ Delivered, Failed, Dead, Gone int64 }

// Counts tells what was done so far.
func (w *Webhooks) Counts() Counts {
	return Counts{w.delivered.Load(), w.failed.Load(), w.died.Load(), w.gone.Load()}
}
