package operate

import (
	"context"
	"fmt"
	"time"

	"landfall"
)

// PurgeResult is what went of a supplier, or would go.
type PurgeResult struct {
	Supplier landfall.Supplier
	Gone     landfall.PurgeCounts
	HeldBy   []string // webhooks that have not received old events, which stay
}

// purgePause is how many times as long as a step took the next one waits, so that
// whoever is served beside it does not notice.
const purgePause = 4

// Purge takes away what was kept for longer than is set, of one supplier or, with
// no code, of all that have something to go one day. Each small step commits by
// itself: what was interrupted is gone as far as it got, and nothing is half gone.
func (o *Operator) Purge(ctx context.Context, code string, dryRun bool) ([]PurgeResult, error) {
	suppliers, err := o.purgeable(ctx, code)
	if err != nil {
		return nil, err
	}
	found := make([]PurgeResult, len(suppliers))
	for i, supplier := range suppliers {
		gone, err := o.purge(ctx, supplier.Code, dryRun)
		found[i] = PurgeResult{Supplier: supplier, Gone: gone}
		if gone != (landfall.PurgeCounts{}) && !dryRun {
			detail := fmt.Sprintf("%d documents, %d failures, %d mails, %d events", gone.Documents, gone.Failures, gone.Mails, gone.Events)
			if wrote := o.change(ctx, "supplier.purge", supplier.Code, func(landfall.Tx) (string, error) { return detail, nil }); err == nil {
				err = wrote
			}
		}
		if err == nil && supplier.Retention.Events > 0 {
			found[i].HeldBy, err = o.heldBy(ctx, supplier)
		}
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// heldBy names the webhooks because of which events stay.
func (o *Operator) heldBy(ctx context.Context, supplier landfall.Supplier) ([]string, error) {
	var names []string
	err := o.store.View(ctx, func(view landfall.View) (err error) {
		names, err = view.WebhooksHoldingEvents(ctx, supplier.Code, supplier.Retention.Events)
		return err
	})
	if err != nil {
		return nil, storeError("supplier.purge", err)
	}
	return names, nil
}

// purgeable gives the supplier that was named, whatever it keeps, or else those
// that keep anything for a limited time: the others have nothing to lose.
func (o *Operator) purgeable(ctx context.Context, code string) ([]landfall.Supplier, error) {
	if code != "" {
		facts, err := o.ShowSupplier(ctx, code)
		return []landfall.Supplier{facts.Supplier}, err
	}
	all, err := o.Suppliers(ctx)
	var some []landfall.Supplier
	for _, supplier := range all {
		if !supplier.Retention.Forever() {
			some = append(some, supplier)
		}
	}
	return some, err
}

// purge goes on in small steps until nothing is left to do. Between steps it
// rests, because whoever stages meanwhile must hardly notice.
func (o *Operator) purge(ctx context.Context, code string, dryRun bool) (gone landfall.PurgeCounts, err error) {
	for order := (landfall.PurgeRequest{Supplier: code, DryRun: dryRun}); ; {
		began := time.Now()
		step, err := o.store.Purge(ctx, order)
		if err != nil {
			return gone, storeError("supplier.purge", err)
		}
		if gone.Add(step.Removed); step.Done {
			return gone, nil
		}
		order.After = step.Next
		select {
		case <-ctx.Done():
			return gone, ctx.Err()
		case <-time.After(min(time.Second, purgePause*time.Since(began))):
		}
	}
}
