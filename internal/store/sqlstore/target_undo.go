package sqlstore

import (
	"context"
	"database/sql"
	"errors"

	"landfall"
	"landfall/internal/store/sqlset"
)

// maybeSent is the condition that the target may have what a delivery d of target t
// has: it was sent, or a sender did not report what it sent.
const maybeSent = `(d.state <> 'waiting' OR d.attempts > 0 OR d.at <= t.uncertain_at)`

// HoldDeliveries stops the deliveries of an account. Requests of a round that began
// before may still be under way: until that round is saved or its lease has ended.
func (s *Store) HoldDeliveries(ctx context.Context, key landfall.Key) (landfall.TakeBack, error) {
	var found landfall.TakeBack
	err := s.update(ctx, key, func(t *tx) error {
		var id, now int64
		var code string
		if err := t.one(ctx, `SELECT p.id, p.account_number, d.target, {now} FROM process p JOIN supplier s ON s.id = p.supplier_id
			JOIN target_delivery d ON d.account_id = p.id WHERE s.code = $1 AND p.external = $2 ORDER BY d.id LIMIT 1`,
			[]any{key.Supplier, key.External}, []any{&id, &found.Number, &code, &now}); err != nil {
			return err
		}
		var err error
		if found.Target, err = t.Target(ctx, code); err != nil {
			return err
		}
		var until, rounds, held sql.NullInt64
		if err := t.one(ctx, `SELECT t.lease_until, t.rounds, (SELECT max(d.hold_rounds) FROM target_delivery d WHERE d.account_id = $2 AND d.held)
			FROM target t WHERE t.code = $1`, []any{code, id}, []any{&until, &rounds, &held}); err != nil {
			return err
		}
		// Rows that were added since are held too.
		if _, err := t.exec(ctx, `UPDATE target_delivery SET held = TRUE, due_at = NULL, hold_rounds = $2 WHERE account_id = $1 AND held = FALSE`,
			id, rounds.Int64); err != nil {
			return err
		}
		if !held.Valid {
			held = rounds
		}
		found.Busy = until.Valid && until.Int64 >= now && held.Int64 == rounds.Int64
		return t.one(ctx, `SELECT count(*) > 0 FROM target_delivery d JOIN target t ON t.code = d.target WHERE d.account_id = $1 AND `+maybeSent,
			[]any{id}, []any{&found.Sent})
	})
	return found, err
}

// ReleaseDeliveries lets the deliveries of an account go on.
func (s *Store) ReleaseDeliveries(ctx context.Context, key landfall.Key) error {
	return s.update(ctx, key, func(t *tx) error {
		_, err := t.exec(ctx, `UPDATE target_delivery SET held = FALSE, hold_rounds = NULL, due_at = CASE WHEN state = 'waiting' THEN {now} END
			WHERE held AND account_id = (SELECT p.id FROM process p JOIN supplier s ON s.id = p.supplier_id WHERE s.code = $1 AND p.external = $2)`,
			key.Supplier, key.External)
		return err
	})
}

// withDeliveries returns which accounts of an undo have deliveries that keep them: those
// that were not held, and those that the target may have and did not give back.
func (t *tx) withDeliveries(ctx context.Context, found []*undoCall) (map[int64]bool, error) {
	kept := map[int64]bool{}
	if len(found) == 0 {
		return kept, nil
	}
	back := map[int64]bool{}
	for _, one := range found {
		back[one.Wanted.id] = one.Wanted.TakenBack
	}
	these, list := sqlset.Among(t.engine, idsOf(found))
	_, err := collect(ctx, t.txSession, func(scan scanner, _ *struct{}) error {
		var id int64
		var held bool
		if err := scan(&id, &held); err != nil {
			return err
		}
		kept[id] = kept[id] || !held || !back[id]
		return nil
	}, `SELECT d.account_id, d.held FROM target_delivery d WHERE d.account_id`+these, list)
	return kept, err
}

// undeliver takes the figures of deliveries that arrived out of the sums, before
// their accounts are removed.
func (t *tx) undeliver(ctx context.Context, ids []int64) error {
	these, list := sqlset.Among(t.engine, ids)
	arrived, err := collect(ctx, t.txSession, func(scan scanner, one *owned[landfall.Figures]) error {
		return scan(&one.id, figuresInto{&one.item})
	}, `SELECT d.supplier_id, d.figures FROM target_delivery d WHERE d.account_id`+these+` AND d.state = 'delivered'`, list)
	if err != nil || len(arrived) == 0 {
		return err
	}
	var changes tallies
	for _, one := range arrived {
		changes.subtract(one.id, landfall.StatusDelivered, one.item)
	}
	return t.tally(ctx, &changes)
}

// restartable selects accounts of a supplier with what a delivery of them needs.
const restartable = `SELECT p.id, p.external, a.ledger_length, a.note_count, a.statement_count, a.instruction_count, {now},
		coalesce((SELECT d.target_id FROM target_delivery d WHERE d.account_id = p.id AND d.target_id <> '' ORDER BY d.id LIMIT 1), '')
	FROM process p JOIN account held ON held.id = p.id JOIN account a ON a.id = p.id WHERE p.supplier_id = $1`

// RestartDeliveries delivers whole accounts as they are now.
func (s *Store) RestartDeliveries(ctx context.Context, key landfall.Key, limit int) (count int, err error) {
	err = s.update(ctx, key, func(t *tx) error {
		var supplier int64
		var target string
		if err := t.one(ctx, `SELECT s.id, s.target FROM supplier s WHERE s.code = $1`, []any{key.Supplier}, []any{&supplier, textInto{&target}}); err != nil {
			return err
		}
		if target == "" {
			return landfall.ErrNotFound
		}
		if _, err := t.Target(ctx, target); err != nil {
			return err
		}
		type account struct {
			id, now  int64
			external string
			targetID string
			lengths  landfall.ListLengths
		}
		which, args := ` AND NOT EXISTS (SELECT 1 FROM target_delivery d WHERE d.account_id = p.id) ORDER BY p.id LIMIT $2 {for_update}`, []any{supplier, int64(limit)}
		if key.External != "" {
			which, args = ` AND p.external = $2 {for_update}`, []any{supplier, key.External}
		}
		found, err := collect(ctx, t.txSession, func(scan scanner, a *account) error {
			return scan(&a.id, &a.external, &a.lengths.Entries, &a.lengths.Notes, &a.lengths.Statements, &a.lengths.Instructions, &a.now, &a.targetID)
		}, restartable+which, args...)
		if err != nil {
			return err
		}
		if count = len(found); count == 0 {
			return nil
		}
		ids := make([]int64, count)
		for i := range found {
			ids[i] = found[i].id
		}
		if err := t.undeliver(ctx, ids); err != nil {
			return err
		}
		these, list := sqlset.Among(t.engine, ids)
		if _, err := t.exec(ctx, `DELETE FROM target_delivery WHERE account_id`+these, list); err != nil {
			return err
		}
		figures, err := t.countAccounts(ctx, ids)
		if err != nil {
			return err
		}
		rows := sqlset.Rows{Table: targetDeliveryTable}
		for _, one := range found {
			rows.Add(target, one.id, supplier, one.external, string(landfall.DeliverAccount), accountItems(one.lengths), figuresText(figures[one.id]), one.now, one.now, one.targetID)
		}
		return t.write(ctx, &rows)
	})
	return count, err
}

// errSeveralCurrencies cannot happen: an account has one.
var errSeveralCurrencies = errors.New("an account has several currencies")

// countAccounts counts the figures of accounts from their rows.
func (t *tx) countAccounts(ctx context.Context, ids []int64) (map[int64]landfall.Figures, error) {
	figures := make(map[int64]landfall.Figures, len(ids))
	for _, id := range ids {
		these, list := sqlset.Among(t.engine, []int64{id})
		counted := recount{}
		if err := listedCounts[these].created(ctx, &t.view, counted, list); err != nil {
			return nil, err
		}
		for _, of := range counted {
			for currency, sums := range of.Sums[landfall.StatusCreated] {
				parts := sums.Figures(currency)
				if len(parts) > 1 || figures[id] != (landfall.Figures{}) {
					return nil, errSeveralCurrencies
				}
				for _, part := range parts {
					figures[id] = part
				}
			}
		}
	}
	return figures, nil
}
