package sqlstore

import (
	"context"

	"landfall"
)

// CorrectTallies appends what is missing, as every change of the sums does. So it is
// right whatever was written or compacted since the recount.
func (t *tx) CorrectTallies(ctx context.Context, code string, kept, counted *landfall.Tallies) (bool, error) {
	// Two corrections of the same difference would leave the sums as wrong as before.
	count, err := t.exec(ctx, `UPDATE supplier SET recounts = recounts + 1 WHERE code = $1 AND recounts = $2`, code, kept.Recounts)
	if err != nil || count == 0 {
		return false, err
	}
	supplier, _, err := t.supplierNow(ctx, code)
	if err != nil {
		return false, err
	}
	var changes tallies
	for status, currencies := range kept.Corrections(counted).Sums {
		for currency, sums := range currencies {
			for _, part := range sums.Figures(currency) {
				changes.add(supplier, status, part)
			}
		}
	}
	return true, t.tally(ctx, &changes)
}

// correctSlice counts the outcomes of a slice again, unless its run is being purged.
const correctSlice = `UPDATE run_slice AS l SET size = (SELECT count(*) ` + ofSlice + `),
		succeeded = (SELECT count(*) ` + ofSlice + ` AND m.outcome = 'succeeded'),
		failed = (SELECT count(*) ` + ofSlice + ` AND m.outcome = 'failed'),
		refused = (SELECT count(*) ` + ofSlice + ` AND m.outcome = 'refused'),
		done = NOT EXISTS (SELECT 1 ` + ofSlice + ` AND m.outcome IS NULL),
		token = CASE WHEN EXISTS (SELECT 1 ` + ofSlice + ` AND m.outcome IS NULL) THEN token END,
		until = CASE WHEN EXISTS (SELECT 1 ` + ofSlice + ` AND m.outcome IS NULL) THEN until END
	WHERE run_id = $1 AND slice = $2 AND EXISTS (SELECT 1 FROM run r WHERE r.id = l.run_id AND r.purged_at IS NULL)`

// CorrectRunSums locks each row before it counts, because a worker writes outcomes
// and sums in one transaction.
func (t *tx) CorrectRunSums(ctx context.Context, after landfall.RunSumsPosition) (corrected int, next landfall.RunSumsPosition, done bool, err error) {
	if after == (landfall.RunSumsPosition{}) {
		after.Run = -1
	}
	found, err := collect(ctx, t.txSession, readSliceSums, sliceSums, after.Run, after.Slice, int64(inspectSlices))
	if err != nil {
		return 0, after, false, err
	}
	for _, one := range found {
		next = landfall.RunSumsPosition{Run: one.run, Slice: one.slice}
		if one.right {
			continue
		}
		if err := t.lock(ctx, `SELECT 1 FROM run_slice held WHERE run_id = $1 AND slice = $2 {for_update}`, one.run, one.slice); err != nil {
			return corrected, next, false, err
		}
		count, err := t.exec(ctx, correctSlice, one.run, one.slice)
		if corrected += int(count); err != nil {
			return corrected, next, false, err
		}
	}
	if len(found) == inspectSlices {
		return corrected, next, false, nil
	}
	count, err := t.correctUndone(ctx)
	return corrected + count, next, true, err
}

// correctUndone counts the undone accounts of runs again where their number is wrong.
func (t *tx) correctUndone(ctx context.Context) (corrected int, err error) {
	ids, err := collect(ctx, t.txSession, func(scan scanner, id *int64) error { return scan(id) },
		`SELECT r.id FROM run r WHERE r.undone <> (SELECT count(*) FROM undone_account u WHERE u.run_id = r.number) ORDER BY r.id LIMIT 1000`)
	for _, id := range ids {
		if err == nil {
			err = t.lock(ctx, `SELECT 1 FROM run held WHERE id = $1 {for_update}`, id)
		}
		if err == nil {
			_, err = t.exec(ctx, `UPDATE run SET undone = (SELECT count(*) FROM undone_account u WHERE u.run_id = run.number) WHERE id = $1`, id)
		}
		corrected++
	}
	return corrected, err
}
