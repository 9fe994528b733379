package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/sqlset"
)

// restorePending moves the figures of accounts that are about to be deleted
// back to pending. Call it in the same transaction that deletes the accounts,
// after locking them and before any of their rows is deleted.
func (t *tx) restorePending(ctx context.Context, processes ...int64) error {
	if len(processes) == 0 {
		return nil
	}
	these, ids := sqlset.Among(t.engine, processes)
	texts, some := listedCounts[these], `p.id`+these
	were := recount{}
	if err := texts.created(ctx, &t.view, were, ids); err != nil {
		return err
	}
	var changes tallies
	for supplier, of := range were {
		for currency, sums := range of.Sums[landfall.StatusCreated] {
			for _, figures := range sums.Figures(currency) {
				changes.subtract(supplier, landfall.StatusCreated, figures)
			}
		}
	}
	read := func(scan scanner, one *owned[landfall.Figures]) error { return scan(&one.id, figuresInto{&one.item}) }
	sent, err := collect(ctx, t.txSession, read, `SELECT p.supplier_id, p.figures FROM process p WHERE `+some, ids)
	if err != nil {
		return err
	}
	for _, one := range sent {
		changes.add(one.id, landfall.StatusPending, one.item)
	}
	deviated, err := collect(ctx, t.txSession, read, `DELETE FROM deviation WHERE (supplier_id, external) IN
		(SELECT p.supplier_id, p.external FROM process p WHERE `+some+`) RETURNING supplier_id, figures`, ids)
	if err != nil {
		return err
	}
	for _, one := range deviated {
		changes.subtract(one.id, deviationStatus(one.item), one.item)
	}
	return t.tally(ctx, &changes)
}
