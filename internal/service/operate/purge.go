package operate

import (
	"context"
	"fmt"
	"time"

	"landfall"
)

// PurgeResult is what was purged of a supplier, or would be.
type PurgeResult struct {
	Supplier landfall.Supplier
	Gone     landfall.PurgeCounts
	HeldBy   []string // webhooks that have not received old events, which are kept for them
	// Unreadable are rows that could not be read and were left as they are.
	Unreadable []landfall.UnreadableRow
}

// purgePause is how long to pause between two steps, as a multiple of the time
// the last step took, so that other users hardly notice the purge.
const purgePause = 4

// Purge removes data that is past its retention, of one supplier or, with no
// code, of all suppliers with a limited retention. It works in small steps that
// commit separately: after an interruption, finished steps stay done and nothing
// is half removed.
func (o *Operator) Purge(ctx context.Context, code string, dryRun bool) ([]PurgeResult, error) {
	suppliers, err := o.purgeable(ctx, code)
	if err != nil {
		return nil, err
	}
	found := make([]PurgeResult, len(suppliers))
	for i, supplier := range suppliers {
		gone, unreadable, err := o.purge(ctx, supplier.Code, dryRun)
		found[i] = PurgeResult{Supplier: supplier, Gone: gone, Unreadable: unreadable}
		if gone != (landfall.PurgeCounts{}) && !dryRun {
			detail := fmt.Sprintf("%d documents, %d failures, %d mails, %d events, %d runs",
				gone.Documents, gone.Failures, gone.Mails, gone.Events, gone.Runs)
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

// heldBy returns the webhooks for which old events are kept.
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

// purgeable returns the named supplier, whatever its retention, or else all
// suppliers with a limited retention: the others have nothing to purge.
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

// purge runs small steps until nothing is left to do. It pauses between them so
// that staging is hardly slowed down.
func (o *Operator) purge(ctx context.Context, code string, dryRun bool) (gone landfall.PurgeCounts, unreadable []landfall.UnreadableRow, err error) {
	for order := (landfall.PurgeRequest{Supplier: code, DryRun: dryRun}); ; {
		began := time.Now()
		step, err := o.store.Purge(ctx, order)
		if err != nil {
			return gone, unreadable, storeError("supplier.purge", err)
		}
		unreadable = append(unreadable, step.Unreadable...)
		if gone.Add(step.Removed); step.Done {
			return gone, unreadable, nil
		}
		order.After = step.Next
		select {
		case <-ctx.Done():
			return gone, unreadable, ctx.Err()
		case <-time.After(min(time.Second, purgePause*time.Since(began))):
		}
	}
}
