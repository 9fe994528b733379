package sqlstore

import (
	"context"

	"landfall"
)

// purgeRunBatch is how many rows of a run one step deletes. They are neighbours,
// so that is faster than purgeBatch rows elsewhere.
const purgeRunBatch = 1000

// endedRuns selects runs of a supplier, each with whether it ended longer ago
// than $2 and has not been marked yet.
const endedRuns = `SELECT r.id, coalesce(r.ended_at < (SELECT {now}) - $2, FALSE) AND r.purged_at IS NULL FROM run r
	WHERE r.supplier_id = $1 AND r.id > $3 ORDER BY r.supplier_id, r.id LIMIT $4`

// markRuns marks the runs whose rows are about to be deleted, so that no reader
// takes a part of them for all.
func markRuns(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
	gone.Runs, next, more, err = s.purgeDue(ctx, part, dueRows{
		page: endedRuns, args: []any{part.supplier, part.keep.Microseconds(), part.from.At, int64(purgeBatch)},
		read: func(scan scanner, next *landfall.PurgeCursor) (id int64, due bool, err error) {
			err = scan(&next.At, &due)
			return next.At, due, err
		},
		change: func(these string) string {
			return `UPDATE run SET purged_at = {now} WHERE id` + these + ` AND ended_at IS NOT NULL AND purged_at IS NULL`
		},
	})
	return gone, next, more, err
}

// runRows is a table with rows of runs, which are deleted in the order of its
// key. page selects the keys of run $1 from $2 on, and remove deletes from $2 to
// $3.
type runRows struct{ page, remove string }

// newRunRows takes a condition for the keys after the last page: a number names
// the next row, a text the last one.
func newRunRows(table, column, from string) runRows {
	return runRows{
		`SELECT d.` + column + ` FROM ` + table + ` d WHERE d.run_id = $1 AND d.` + column + from + ` ORDER BY d.run_id, d.` + column + ` LIMIT $3`,
		`DELETE FROM ` + table + ` WHERE run_id = $1 AND ` + column + from + ` AND ` + column + ` <= $3`,
	}
}

var (
	runFailureRows = newRunRows("run_failure", "external", ` > $2`)
	runListedRows  = newRunRows("run_listed", "external", ` > $2`)
	runMemberRows  = newRunRows("run_member", "ordinal", ` >= $2`)
	runSliceRows   = newRunRows("run_slice", "slice", ` >= $2`)
)

// runPage is a part of the rows of a purged run.
type runPage struct {
	run   int64
	first any // where the page begins, and
	last  any // its last key; nil when there are no rows
	next  landfall.PurgeCursor
}

// purgedRun selects the first purged run of a supplier from an id on.
const purgedRun = `SELECT r.id FROM run r WHERE r.supplier_id = $1 AND r.id >= $2 AND r.purged_at IS NOT NULL ORDER BY r.supplier_id, r.id LIMIT 1`

// purgeRunPage finds the next rows to delete. It passes a few runs that have
// none. A cursor is a run and the position in its rows.
func (v *view) purgeRunPage(ctx context.Context, rows runRows, part *purgePage) (page runPage, found bool, err error) {
	at := part.from
	for range purgeBatch {
		next, err := collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(id) }, purgedRun, part.supplier, at.At)
		if err != nil || len(next) == 0 {
			return runPage{}, false, err
		}
		if next[0] != at.At {
			at = landfall.PurgeCursor{At: next[0]}
		}
		if page, err = v.runKeys(ctx, rows, at); err != nil || page.last != nil {
			return page, true, err
		}
		at = page.next
	}
	return page, true, nil
}

func (v *view) runKeys(ctx context.Context, rows runRows, at landfall.PurgeCursor) (page runPage, err error) {
	page = runPage{run: at.At, next: landfall.PurgeCursor{At: at.At + 1}}
	var count int
	if rows == runFailureRows || rows == runListedRows {
		page.first = at.Name
		names, err := collect(ctx, v.txSession, func(scan scanner, name *string) error { return scan(name) }, rows.page, at.At, at.Name, int64(purgeRunBatch))
		if count = len(names); err != nil || count == 0 {
			return page, err
		}
		page.last = names[count-1]
		at.Name = names[count-1]
	} else {
		page.first = at.Number
		numbers, err := collect(ctx, v.txSession, func(scan scanner, number *int64) error { return scan(number) }, rows.page, at.At, at.Number, int64(purgeRunBatch))
		if count = len(numbers); err != nil || count == 0 {
			return page, err
		}
		page.last = numbers[count-1]
		at.Number = numbers[count-1] + 1
	}
	if count == purgeRunBatch {
		page.next = at
	}
	return page, nil
}

func purgeRunRows(rows runRows) purgeStep {
	return purgeRunTable(rows, func(ctx context.Context, t *tx, page runPage) error {
		_, err := t.exec(ctx, rows.remove, page.run, page.first, page.last)
		return err
	})
}

// purgeRunSlices deletes the slices of purged runs and adds their sums to the
// run. It adds exactly what its own DELETE removed, so that two purges at once
// cannot add anything twice.
var purgeRunSlices = purgeRunTable(runSliceRows, func(ctx context.Context, t *tx, page runPage) error {
	var sum landfall.RunTally
	_, err := collect(ctx, t.txSession, func(scan scanner, _ *struct{}) error {
		var one landfall.RunTally
		err := scan(&one.Succeeded, &one.Failed, &one.Refused)
		sum.Succeeded, sum.Failed, sum.Refused = sum.Succeeded+one.Succeeded, sum.Failed+one.Failed, sum.Refused+one.Refused
		return err
	}, runSliceRows.remove+` RETURNING succeeded, failed, refused`, page.run, page.first, page.last)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `UPDATE run SET purged_succeeded = purged_succeeded + $2, purged_failed = purged_failed + $3,
		purged_refused = purged_refused + $4 WHERE id = $1`, page.run, int64(sum.Succeeded), int64(sum.Failed), int64(sum.Refused))
	return err
})

// purgeRunTable is the step of both. The runs were counted when they were
// marked.
func purgeRunTable(rows runRows, remove func(context.Context, *tx, runPage) error) purgeStep {
	return func(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
		if part.dry {
			return gone, next, false, nil
		}
		var page runPage
		var found bool
		err = s.stream(ctx, func(v *view) (err error) {
			page, found, err = v.purgeRunPage(ctx, rows, part)
			return err
		})
		if err == nil && page.last != nil {
			err = s.update(ctx, landfall.Key{}, func(t *tx) error { return remove(ctx, t, page) })
		}
		return gone, page.next, found, err
	}
}
