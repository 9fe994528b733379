package sqlstore

import (
	"context"
	"fmt"

	"landfall"
)

// inspectDeliveries is how many deliveries are inspected in one transaction.
const inspectDeliveries = 500

// deliveryFaults reads the deliveries after another one, and what is wrong with
// each. A waiting delivery must have an event that can still be sent, and the
// first one of an account must have a due time, because all its others wait for
// it.
const deliveryFaults = `SELECT d.webhook, d.event_id, d.supplier, d.external, CASE
		WHEN e.id IS NULL AND d.state = 'waiting' THEN 'is queued for delivery, but does not exist'
		WHEN e.supplier <> d.supplier OR e.external <> d.external THEN 'is about another account than its delivery'
		WHEN d.state = 'dead' AND d.due_at IS NOT NULL THEN 'is dead, but has a due time'
		WHEN d.state = 'waiting' AND d.due_at IS NULL AND NOT EXISTS (SELECT 1 FROM webhook_delivery b
			WHERE b.webhook = d.webhook AND b.supplier = d.supplier AND b.external = d.external AND b.state = 'waiting'
				AND b.event_id < d.event_id) THEN 'waits for no other event and will never be sent'
		ELSE '' END
	FROM webhook_delivery d LEFT JOIN event e ON e.id = d.event_id
	WHERE (d.webhook, d.event_id) > ($1, $2) ORDER BY d.webhook, d.event_id LIMIT $3`

// inspectWebhooks looks for deliveries that will never be sent or are out of
// order. It reports whether the inspection continues.
func (s *Store) inspectWebhooks(ctx context.Context, done int, yield func(landfall.Inspection, error) bool) bool {
	type seen struct {
		webhook string
		event   int64
		key     landfall.Key
		fault   string
	}
	for last := (seen{}); ; {
		var found []seen
		err := s.View(ctx, func(reader landfall.View) (err error) {
			v := reader.(*view) //nolint:forcetypeassert // it is this store's
			found, err = collect(ctx, v.txSession, func(scan scanner, one *seen) error {
				return scan(&one.webhook, &one.event, &one.key.Supplier, &one.key.External, &one.fault)
			}, deliveryFaults, last.webhook, last.event, int64(inspectDeliveries))
			return err
		})
		if err != nil {
			yield(landfall.Inspection{Processes: done}, err)
			return false
		}
		for _, one := range found {
			last = one
			if one.fault == "" {
				continue
			}
			finding := &landfall.Finding{Key: one.key, What: fmt.Sprintf("event %d of webhook %s %s", one.event, one.webhook, one.fault)}
			if !yield(landfall.Inspection{Processes: done, Finding: finding}, nil) {
				return false
			}
		}
		if len(found) < inspectDeliveries {
			return true
		}
	}
}
