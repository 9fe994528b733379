package operate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/outbound/delivery"
)

// ReplayDead retries dead deliveries: those of the events with the given ids, or
// all if there are none.
func (o *Operator) ReplayDead(ctx context.Context, name string, ids []string) (int, error) {
	var events []int64
	for _, id := range ids {
		place, ok := contract.ParseEventID(id)
		if !ok {
			return 0, invalid("event", rules.CodeInvalidCharacters, "%q is not the id of an event; see: webhook show %s", id, name)
		}
		events = append(events, place)
	}
	count := 0
	err := o.change(ctx, "webhook.replay", name, func(tx landfall.Tx) (string, error) {
		if _, err := tx.Webhook(ctx, name); err != nil {
			return "", webhookError(ctx, tx, name, err)
		}
		var err error
		count, err = tx.Replay(ctx, name, events)
		return fmt.Sprintf("%d dead deliveries", count), err
	})
	return count, err
}

// ReplaySince delivers all events since an instant again, with the same ids as
// before. Purged events cannot be delivered again; it returns the suppliers that
// have such events.
func (o *Operator) ReplaySince(ctx context.Context, name string, since time.Time) (gone []string, err error) {
	err = o.change(ctx, "webhook.replay", name, func(tx landfall.Tx) (string, error) {
		webhook, err := tx.Webhook(ctx, name)
		if err != nil {
			return "", webhookError(ctx, tx, name, err)
		}
		before, err := tx.LastEventBefore(ctx, since)
		if err != nil {
			return "", err
		}
		if gone, err = purgedSince(ctx, tx, webhook, since); err != nil {
			return "", err
		}
		// Only move back. Moving forward would skip events that were not
		// delivered yet.
		webhook.Position = min(before, webhook.Position)
		return "since " + since.UTC().Format(time.RFC3339), tx.SaveWebhook(ctx, webhook)
	})
	return gone, err
}

// purgedSince returns the suppliers of a webhook that have purged events since
// an instant.
func purgedSince(ctx context.Context, tx landfall.Tx, webhook landfall.Webhook, since time.Time) (named []string, err error) {
	suppliers, err := tx.GrantedSuppliers(ctx, webhook.Organisation)
	if err != nil {
		return nil, err
	}
	gone, err := tx.PurgedEvents(ctx)
	for _, supplier := range suppliers {
		told := len(webhook.Suppliers) == 0 || slices.Contains(webhook.Suppliers, supplier)
		if place, purged := gone[supplier]; told && purged && !place.At.Before(since) {
			named = append(named, supplier)
		}
	}
	return named, err
}

// TestWebhook sends a test event from this process and returns the result.
func (o *Operator) TestWebhook(ctx context.Context, name string) (delivery.Outcome, error) {
	facts, err := o.ShowWebhook(ctx, name)
	if err != nil {
		return delivery.Outcome{}, err
	}
	if o.sender == nil {
		return delivery.Outcome{}, delivery.ErrNoKey
	}
	// The event is sent to another party in the operator's name, so audit it
	// first.
	if err := o.change(ctx, "webhook.test", name, func(landfall.Tx) (string, error) { return "", nil }); err != nil {
		return delivery.Outcome{}, err
	}
	now := o.clock().UTC()
	return o.sender.Send(ctx, &facts.Webhook, landfall.Event{
		// The time in microseconds is far above the ids of the log, so a
		// receiver that remembers ids does not take the test for one of its
		// events.
		ID: now.UnixMicro(), Type: landfall.EventWebhookTest, Key: landfall.Key{Supplier: name}, At: now,
	}), nil
}
