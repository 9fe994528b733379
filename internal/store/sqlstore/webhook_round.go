package sqlstore

import (
	"context"
	"slices"

	"landfall"
)

// webhookTable claims webhooks that are due and have something to deliver, those
// first that have waited longest. The clock is read once in a subquery and not for
// every row, so deliveries that are not due yet are not read.
var webhookTable = receiverTable{name: "webhook", key: "name", claimable: `SELECT held.name FROM webhook held JOIN organisation o ON o.name = held.organisation
	WHERE held.state = 'active' AND o.disabled = FALSE AND held.due_at <= {now} AND (held.lease_until IS NULL OR held.lease_until < {now})
	AND (EXISTS (SELECT 1 FROM supplier_grant g JOIN supplier s ON s.id = g.supplier_id JOIN event e ON e.supplier = s.code
			WHERE g.organisation = held.organisation AND e.id > held.position AND e.id <= $1)
		OR EXISTS (SELECT 1 FROM webhook_delivery d WHERE d.webhook = held.name AND d.due_at <= (SELECT {now})))
	ORDER BY held.due_at, held.name`}

// ClaimWebhooks claims webhooks to deliver to.
func (s *Store) ClaimWebhooks(ctx context.Context, request landfall.WebhookClaimRequest) ([]landfall.WebhookClaim, int, error) {
	var active int
	err := s.read(ctx, func(v *view) error {
		return v.one(ctx, `SELECT count(*) FROM webhook WHERE state = 'active'`, nil, []any{&active})
	})
	if err != nil || active == 0 {
		return nil, 0, err
	}
	names, token, err := s.claimReceivers(ctx, webhookTable, request.Most, request.Lease, request.UpTo)
	if err != nil {
		return nil, 0, err
	}
	claims := make([]landfall.WebhookClaim, len(names))
	for i, name := range names {
		claims[i] = landfall.WebhookClaim{Name: name, Token: token}
	}
	return claims, active, nil
}

// maxRetriesPerRound is how many waiting deliveries are retried in one round.
const maxRetriesPerRound = 64

// WebhookRound reads the next events and retries for a webhook.
func (s *Store) WebhookRound(ctx context.Context, claim landfall.WebhookClaim, upTo int64, most int) (landfall.WebhookRound, error) {
	var round landfall.WebhookRound
	err := s.View(ctx, func(read landfall.View) error {
		v := read.(*view) //nolint:forcetypeassert // View made it
		var err error
		round, err = v.round(ctx, claim, upTo, most)
		return err
	})
	if err != nil {
		return landfall.WebhookRound{}, err
	}
	return round, nil
}

// round checks the lease first: a sender that was suspended must not continue
// from a position that another sender has advanced.
func (v *view) round(ctx context.Context, claim landfall.WebhookClaim, upTo int64, most int) (landfall.WebhookRound, error) {
	var now int64
	found, err := collect(ctx, v.txSession, func(scan scanner, webhook *landfall.Webhook) error { return scanWebhook(scan, webhook, &now) },
		webhookColumns+`, {now} FROM webhook w WHERE w.name = $1 AND w.lease_token = $2 AND w.state = 'active'`, claim.Name, claim.Token)
	webhook, err := firstOf(found, err, landfall.ErrFenced)
	if err != nil {
		return landfall.WebhookRound{}, err
	}
	round := landfall.WebhookRound{Webhook: webhook, Now: moment(now), Through: max(upTo, webhook.Position)}
	suppliers, err := v.GrantedSuppliers(ctx, webhook.Organisation)
	if err != nil {
		return round, err
	}
	// A webhook may want less than its organisation may see, never more. Grants
	// are read in every round, so that a withdrawn one takes effect at once.
	suppliers = webhook.SuppliersOf(suppliers)
	round.Events, err = v.EventsAfter(ctx, landfall.EventQuery{Suppliers: suppliers, After: webhook.Position, UpTo: upTo, Limit: most})
	if err != nil {
		return round, err
	}
	// Only a full page may have left something out. Otherwise all events up to
	// the watermark have been read, even if the last ones were not for this
	// webhook.
	if len(round.Events) == most {
		round.Through, round.More = round.Events[most-1].ID, true
	}
	return round, v.waiting(ctx, &round, suppliers)
}

// waiting reads the deliveries that are due for a retry: the first one of each
// account, because its later ones must wait for that.
func (v *view) waiting(ctx context.Context, round *landfall.WebhookRound, suppliers []string) error {
	due, err := collect(ctx, v.txSession, scanDelivery, deliveryColumns+` WHERE d.webhook = $1 AND d.due_at <= $2 AND d.state = 'waiting'
		AND NOT EXISTS (SELECT 1 FROM webhook_delivery b WHERE b.webhook = d.webhook AND b.supplier = d.supplier AND b.external = d.external
			AND b.state = 'waiting' AND b.event_id < d.event_id)
		ORDER BY d.due_at LIMIT $3`, round.Webhook.Name, round.Now.UnixMicro(), int64(maxRetriesPerRound))
	if err != nil {
		return err
	}
	for _, delivery := range due {
		// Once a grant is withdrawn, no event of that supplier is sent, not
		// even one that was already waiting.
		if slices.Contains(suppliers, delivery.Event.Key.Supplier) {
			round.Waiting = append(round.Waiting, delivery)
		} else {
			round.Withdrawn = append(round.Withdrawn, delivery.Event.ID)
		}
	}
	round.More = round.More || len(due) == maxRetriesPerRound
	if len(round.Events) == 0 {
		return nil
	}
	// An event must not overtake an earlier one of its account that is still
	// waiting: the receiver would end up with the older state.
	blocked, err := collect(ctx, v.txSession, func(scan scanner, key *landfall.Key) error { return scan(&key.Supplier, &key.External) },
		`SELECT DISTINCT e.supplier, e.external FROM event e JOIN webhook_delivery d
			ON d.webhook = $1 AND d.supplier = e.supplier AND d.external = e.external AND d.state = 'waiting'
		WHERE e.id > $2 AND e.id <= $3`, round.Webhook.Name, round.Webhook.Position, round.Events[len(round.Events)-1].ID)
	round.Blocked = make(map[landfall.Key]bool, len(blocked))
	for _, key := range blocked {
		round.Blocked[key] = true
	}
	return err
}

// SaveRound stores the result of a round. Only the holder of the claim can.
func (s *Store) SaveRound(ctx context.Context, claim landfall.WebhookClaim, result landfall.RoundResult) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		// Update the webhook's row first: if the lease belongs to another
		// sender, nothing of this round is stored.
		also := `, position = $6`
		if result.Gone {
			also += `, state = 'gone'`
		}
		if err := t.saveReceiver(ctx, webhookTable, receiverRound{
			key: claim.Name, token: claim.Token, pause: result.Pause, delivered: result.Delivered, failed: result.RoundFailed,
			keepClaim: result.KeepClaim, lease: result.Lease, also: also, args: []any{result.Position},
		}); err != nil {
			return err
		}
		if err := t.saveDeliveries(ctx, claim.Name, result); err != nil {
			return err
		}
		if result.Gone {
			err := t.AppendAudit(ctx, landfall.AuditEntry{
				Actor: "service", Action: "webhook.gone", Subject: claim.Name, Detail: "the receiver answered 410",
			})
			if err != nil {
				return err
			}
		}
		return t.saveRoundEntry(ctx, claim.Name, result)
	})
}

// saveDeliveries stores waiting and dead deliveries, and makes the next
// delivery due for each account that is no longer blocked.
func (t *tx) saveDeliveries(ctx context.Context, name string, result landfall.RoundResult) error {
	freed := map[landfall.Key]bool{}
	for _, event := range result.Settled {
		gone, err := collect(ctx, t.txSession, func(scan scanner, key *landfall.Key) error { return scan(&key.Supplier, &key.External) },
			`DELETE FROM webhook_delivery WHERE webhook = $1 AND event_id = $2 RETURNING supplier, external`, name, event)
		if err != nil {
			return err
		}
		for _, key := range gone {
			freed[key] = true
		}
	}
	for i := range result.Failed {
		failed := &result.Failed[i]
		if failed.State == landfall.DeliveryDead {
			freed[failed.Event.Key] = true
		}
		// A delivery behind another event of its account has no due time. It
		// gets one when its turn comes.
		due := `NULL`
		args := []any{
			name, failed.Event.ID, failed.Event.Key.Supplier, failed.Event.Key.External, string(failed.State), int64(failed.Attempts),
			int64(failed.Status), failed.Reason,
		}
		if failed.State == landfall.DeliveryWaiting && !failed.Blocked {
			due, args = `{now} + $9`, append(args, failed.Pause.Microseconds())
		}
		_, err := t.exec(ctx, `INSERT INTO webhook_delivery (webhook, event_id, supplier, external, state, attempts, first_at, due_at, status, reason)
			VALUES ($1, $2, $3, $4, $5, $6, {now}, `+due+`, $7, $8)
			ON CONFLICT (webhook, event_id) DO UPDATE SET state = excluded.state, attempts = excluded.attempts,
				due_at = excluded.due_at, status = excluded.status, reason = excluded.reason`, args...)
		if err != nil {
			return err
		}
	}
	// Look only at the accounts that changed, and only at the next event of
	// each: the cost does not depend on how many events wait after it.
	for key := range freed {
		if _, err := t.exec(ctx, nextDeliveryText, name, key.Supplier, key.External); err != nil {
			return err
		}
	}
	return nil
}

// nextDeliveryText makes the first waiting event of an account due.
const nextDeliveryText = `UPDATE webhook_delivery SET due_at = {now} WHERE webhook = $1 AND due_at IS NULL AND event_id =
	(SELECT b.event_id FROM webhook_delivery b WHERE b.webhook = $1 AND b.supplier = $2 AND b.external = $3 AND b.state = 'waiting'
		ORDER BY b.webhook, b.supplier, b.external, b.event_id LIMIT 1)`

// maxRounds is how many rounds of a webhook are kept.
const maxRounds = 200

// saveRoundEntry stores a round in which something happened.
func (t *tx) saveRoundEntry(ctx context.Context, name string, result landfall.RoundResult) error {
	dead := 0
	for i := range result.Failed {
		if result.Failed[i].State == landfall.DeliveryDead {
			dead++
		}
	}
	if result.Delivered+len(result.Failed) == 0 && !result.RoundFailed && !result.Gone {
		return nil
	}
	if _, err := t.exec(ctx, `INSERT INTO webhook_round (webhook, at, position, delivered, failed, dead, status, reason, took)
		VALUES ($1, {now}, $2, $3, $4, $5, $6, $7, $8)`, name, result.Position, int64(result.Delivered), int64(len(result.Failed)-dead),
		int64(dead), int64(result.Status), result.Reason, result.Took.Microseconds()); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM webhook_round WHERE webhook = $1 AND id <=
		(SELECT id FROM webhook_round WHERE webhook = $1 ORDER BY webhook DESC, id DESC LIMIT 1 OFFSET $2)`, name, int64(maxRounds))
	return err
}
