package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/store/sqlset"
)

// settleQuery records the results of deliveries that are settled. An account that
// was undone meanwhile has none any more.
var settleQuery = sqlset.NewQuery(`
	UPDATE target_delivery SET state = w.state, due_at = NULL, attempts = target_delivery.attempts + 1, status = w.status,
		reply = w.reply, target_id = CASE WHEN w.target_id = '' THEN target_delivery.target_id ELSE w.target_id END, settled_at = {now}
	FROM wanted w WHERE target_delivery.id = w.id
	RETURNING target_delivery.id, target_delivery.account_id, target_delivery.supplier_id, target_delivery.figures, {now}`,
	"id bigint", "state text", "status bigint", "reply text", "target_id text")

// retryTable records the deliveries that failed. A held one gets no time.
var retryTable = sqlset.NewChange(`UPDATE target_delivery SET due_at = CASE WHEN target_delivery.held THEN NULL ELSE {now} + w.pause END,
		attempts = target_delivery.attempts + 1, status = w.status, reply = w.reply FROM {rows}
	WHERE target_delivery.id = w.id AND target_delivery.state = 'waiting'`,
	"id bigint", "pause bigint", "status bigint", "reply text")

// SaveTargetRound stores the result of a round. Only the holder of the claim can.
func (s *Store) SaveTargetRound(ctx context.Context, claim landfall.TargetClaim, result landfall.TargetRoundResult) error {
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		// The row of the target is locked first. Everybody who changes what waits
		// for what does so under this lock.
		if err := t.saveReceiver(ctx, targetTable, receiverRound{
			key: claim.Code, token: claim.Token, pause: result.Pause, delivered: result.Delivered, failed: result.RoundFailed,
			keepClaim: result.KeepClaim, lease: result.Lease, also: `, rounds = rounds + 1, status = $6, reason = $7`,
			args: []any{int64(result.Status), result.Reason},
		}); err != nil {
			return err
		}
		return t.saveResults(ctx, result.Results, result.Blocked)
	})
}

// saveResults stores the results of deliveries with their events and figures.
func (t *tx) saveResults(ctx context.Context, results []landfall.TargetResult, blocked []int64) error {
	byID := make(map[int64]*landfall.TargetResult, len(results))
	retries := sqlset.Rows{Table: retryTable}
	var settled []any
	for i := range results {
		one := &results[i]
		reply := one.Reply
		if reply != "" {
			reply = t.sealer.sealText(targetReplyLocation, reply, one.Delivery.ID)
		}
		if one.State == landfall.TargetWaiting {
			retries.Add(one.Delivery.ID, one.Pause.Microseconds(), int64(one.Status), reply)
			continue
		}
		byID[one.Delivery.ID] = one
		settled = append(settled, one.Delivery.ID, string(one.State), int64(one.Status), reply, one.TargetID)
	}
	rows := newAccountRows(t.sealer)
	var freed []int64
	for some := range slices.Chunk(settled, settleQuery.Width()*sqlset.MaxBatch) {
		done, err := t.settleDeliveries(ctx, some, byID, rows)
		if err != nil {
			return err
		}
		freed = append(freed, done...)
	}
	if err := t.write(ctx, append([]*sqlset.Rows{&retries}, rows.all()...)...); err != nil {
		return err
	}
	if len(freed) > 0 {
		// All of the account, not only the next one: a round keeps them in order.
		these, list := sqlset.Among(t.engine, freed)
		if _, err := t.exec(ctx, `UPDATE target_delivery SET due_at = {now} WHERE account_id`+these+
			` AND state = 'waiting' AND due_at IS NULL AND held = FALSE`, list); err != nil {
			return err
		}
	}
	if len(blocked) == 0 {
		return nil
	}
	these, list := sqlset.Among(t.engine, blocked)
	_, err := t.exec(ctx, `UPDATE target_delivery SET due_at = NULL WHERE id`+these+` AND EXISTS (SELECT 1 FROM target_delivery b
		WHERE b.account_id = target_delivery.account_id AND b.id < target_delivery.id AND `+openDelivery+`)`, list)
	return err
}

// settleDeliveries stores some results that are final, and returns the accounts in
// which the next delivery has its turn.
func (t *tx) settleDeliveries(ctx context.Context, some []any, byID map[int64]*landfall.TargetResult, into *accountRows) (freed []int64, err error) {
	type settledRow struct {
		id, account, supplier, now int64
		figures                    landfall.Figures
	}
	text, args := settleQuery.For(t.engine, some)
	rows, err := collect(ctx, t.txSession, func(scan scanner, row *settledRow) error {
		return scan(&row.id, &row.account, &row.supplier, figuresInto{&row.figures}, &row.now)
	}, text, args...)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		one := byID[row.id]
		d := one.Delivery
		event := landfall.Event{Key: d.Key, AccountNumber: d.Number, Details: map[string]string{"target": d.Target, "kind": string(d.Kind)}}
		switch one.State {
		case landfall.TargetDelivered:
			freed = append(freed, row.account)
			into.tallies.add(row.supplier, landfall.StatusDelivered, row.figures)
			event.Type = landfall.EventDelivered
			if one.TargetID != "" {
				event.Details["target_id"] = one.TargetID
			}
			if d.TargetID != "" && one.TargetID != "" && d.TargetID != one.TargetID {
				event.Details["former_target_id"] = d.TargetID
			}
		case landfall.TargetRefused:
			event.Type = landfall.EventDeliveryRefused
		default:
			continue
		}
		// Of the postings only refusals are told, so that there is one event for
		// each account that arrived.
		if one.State == landfall.TargetDelivered && d.Kind != landfall.DeliverAccount {
			continue
		}
		if err := into.event(row.now, event); err != nil {
			return nil, err
		}
	}
	return freed, nil
}

// SettleDelivery confirms or refuses a delivery.
func (s *Store) SettleDelivery(ctx context.Context, wanted landfall.TargetSettlement) (landfall.TargetDelivery, error) {
	for _, text := range []string{wanted.Reply, wanted.TargetID} {
		if !storable(text) {
			return landfall.TargetDelivery{}, errUnstorable
		}
	}
	var found landfall.TargetDelivery
	err := s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
		if found, err = t.TargetDelivery(ctx, wanted.ID); err != nil {
			return err
		}
		if !found.At.Equal(wanted.At) || len(wanted.Supplier) > 0 && !slices.Contains(wanted.Supplier, found.Key.Supplier) {
			found = landfall.TargetDelivery{}
			return landfall.ErrNotFound
		}
		if _, err := t.Target(ctx, found.Target); err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		if found, err = t.TargetDelivery(ctx, wanted.ID); err != nil {
			return err
		}
		if !slices.Contains(wanted.From, found.State) || found.Held {
			return landfall.ErrNotFound
		}
		before := found
		found.State, found.Reply, found.TargetID = wanted.State, wanted.Reply, cmp.Or(wanted.TargetID, found.TargetID)
		var did landfall.AuditBatch
		did.Add(wanted.By, "delivery."+strings.ToLower(string(wanted.State)), found.Key, string(found.Kind))
		if err := t.write(ctx, auditRows(&did)); err != nil {
			return err
		}
		return t.saveResults(ctx, []landfall.TargetResult{{
			Delivery: &before, State: wanted.State, Status: found.Status, Reply: wanted.Reply, TargetID: found.TargetID,
		}}, nil)
	})
	return found, err
}
