package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
	"landfall/internal/store/sqlset"
)

// chooseBatch is how many processes one step of choosing looks at.
const chooseBatch = 4096

// chooseTexts contains for each selection the query that reads its processes
// after a cursor, in the order of a dedicated index.
var chooseTexts = map[landfall.RunSelection]string{
	landfall.SelectPending: choosePending + pending + choosePendingOrder,
	landfall.SelectUntried: choosePending + pending + ` AND p.failed_at IS NULL` + choosePendingOrder,
	landfall.SelectFailed: `SELECT p.id, p.first_staged_at, p.external FROM process p
		WHERE p.supplier_id = $1 AND p.external > $2 AND p.first_staged_at <= $3 AND p.failed_at IS NOT NULL AND p.skip_reason IS NULL
		ORDER BY p.external LIMIT $4`,
}

const (
	choosePending = `SELECT p.id, p.first_staged_at, p.external FROM process p
		WHERE p.supplier_id = $1 AND (p.first_staged_at, p.external) > ($5, $2) AND p.first_staged_at <= $3 AND `
	choosePendingOrder = ` ORDER BY p.first_staged_at, p.external LIMIT $4`
)

// choosing is the progress of choosing a run's accounts.
type choosing struct {
	run, supplier  int64
	selection      landfall.RunSelection
	sample, most   int64
	cutoff         int64
	at             int64  // the cursor, together with external
	external       string // of the last process looked at
	seen, selected int64
	chosen         bool
}

// candidate is a process that may be chosen.
type candidate struct {
	id, at   int64
	external string
}

// ChooseRun looks at the next processes outside any write transaction, because
// that may take a while. It stores the chosen ones unless another server has
// done so meanwhile.
func (s *Store) ChooseRun(ctx context.Context, id string) (done bool, err error) {
	var was choosing
	var found []candidate
	err = s.View(ctx, func(reader landfall.View) (err error) {
		v := reader.(*view) //nolint:forcetypeassert // it is this store's
		if was, err = v.choosing(ctx, id); err != nil || was.chosen {
			return err
		}
		args := []any{was.supplier, was.external, was.cutoff, int64(chooseBatch)}
		if was.selection != landfall.SelectFailed {
			args = append(args, was.at)
		}
		found, err = collect(ctx, v.txSession, func(scan scanner, c *candidate) error { return scan(&c.id, &c.at, &c.external) },
			chooseTexts[was.selection], args...)
		return err
	})
	if err != nil {
		return false, err
	}
	if was.chosen {
		return true, nil
	}
	return s.saveChosen(ctx, was, found)
}

// choosing reads the progress of choosing a run's accounts, with the cutoff
// after which nothing is chosen.
func (v *view) choosing(ctx context.Context, id string) (choosing, error) {
	var c choosing
	var cutoff sql.NullInt64
	var now int64
	err := v.one(ctx, `SELECT r.id, r.supplier_id, r.selection, r.sample, r.most, r.cutoff, r.cursor_at, r.cursor_external, r.seen,
			r.selected, r.chosen, {now} FROM run r WHERE r.number = $1`, []any{id},
		[]any{&c.run, &c.supplier, &c.selection, &c.sample, &c.most, &cutoff, &c.at, &c.external, &c.seen, &c.selected, &c.chosen, &now})
	// The first step sets the cutoff for all. Without it, choosing would never
	// end while a supplier keeps staging.
	if c.cutoff = now; cutoff.Valid {
		c.cutoff = cutoff.Int64
	}
	return c, err
}

var (
	memberTable = newTable("run_member", "run_id bigint", "ordinal bigint", "process_id bigint")
	sliceTable  = newTable("run_slice", "run_id bigint", "slice bigint", "size bigint", "succeeded bigint", "failed bigint",
		"refused bigint", "width bigint", "next_at bigint", "tries bigint", "done boolean")
)

// saveChosen advances the cursor and stores the chosen accounts. Only one
// caller can advance the cursor from a position. The slices are created when
// everything is chosen.
func (s *Store) saveChosen(ctx context.Context, was choosing, found []candidate) (done bool, err error) {
	is := was
	members := sqlset.Rows{Table: memberTable}
	for _, c := range found {
		if was.most > 0 && is.selected >= was.most {
			break
		}
		// Count through all steps, so that a sample does not depend on how the
		// steps are cut.
		if was.sample <= 1 || is.seen%was.sample == 0 {
			members.Add(was.run, is.selected, c.id)
			is.selected++
		}
		is.seen++
		is.at, is.external = c.at, c.external
	}
	is.chosen = len(found) < chooseBatch || was.most > 0 && is.selected >= was.most
	slices := sqlset.Rows{Table: sliceTable}
	for first := int64(0); is.chosen && first < is.selected; first += landfall.SliceSize {
		slices.Add(was.run, first/landfall.SliceSize, min(landfall.SliceSize, is.selected-first),
			int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), false)
	}
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		moved, err := t.exec(ctx, `UPDATE run SET cutoff = $2, cursor_at = $3, cursor_external = $4, seen = $5, selected = $6, chosen = $7
			WHERE id = $1 AND state = 'WAITING' AND seen = $8 AND chosen = FALSE AND (cutoff IS NULL OR cutoff = $2)`,
			was.run, is.cutoff, is.at, is.external, is.seen, is.selected, is.chosen, was.seen)
		if err != nil || moved == 0 {
			done = false // another server was faster, or there is nothing left to choose
			return err
		}
		done = is.chosen
		return t.write(ctx, copyOf(&members), copyOf(&slices))
	})
	return done, err
}

// copyOf returns a copy of rows: writing empties them, and an update may run
// more than once.
func copyOf(rows *sqlset.Rows) *sqlset.Rows {
	return &sqlset.Rows{Table: rows.Table, Values: rows.Values}
}
