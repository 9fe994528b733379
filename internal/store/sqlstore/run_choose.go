package sqlstore

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/store/sqlset"
)

// chooseBatch is how many processes one step of choosing looks at.
const chooseBatch = 4096

// chooseText returns the query that reads the next processes of a selection after
// a cursor, and its arguments. Every selection follows an index, which decides the
// order: the list of accounts, the delivery, the failed ones, or all pending ones.
func (c *choosing) chooseText() (text string, args []any) {
	args = []any{c.supplier, c.external, c.cutoff, int64(chooseBatch)}
	add := func(condition string, value any) string {
		args = append(args, value)
		return strings.ReplaceAll(condition, "$n", "$"+strconv.Itoa(len(args)))
	}
	from, order := `process p`, `p.external`
	var where string
	switch {
	case c.listed > 0:
		from, order = add(`run_listed l JOIN process p ON l.run_id = $n AND p.external = l.external`, c.run), `l.external`
		where = ` AND l.external > $2`
	case c.delivery != "", c.selection == landfall.SelectFailed, len(c.codes) > 0:
		where = ` AND p.external > $2`
	default:
		order = `p.first_staged_at, p.external`
		where = add(` AND (p.first_staged_at, p.external) > ($n, $2)`, c.at)
	}
	if c.delivery != "" {
		where += add(` AND p.delivery = $n`, c.delivery)
	}
	switch {
	case c.selection == landfall.SelectUntried:
		where += ` AND p.failed_at IS NULL`
	case c.selection == landfall.SelectFailed, len(c.codes) > 0:
		where += ` AND p.failed_at IS NOT NULL`
	}
	failure := `NULL`
	if len(c.codes) > 0 {
		failure = `p.failure`
	}
	return `SELECT p.id, p.first_staged_at, p.external, ` + failure + ` FROM ` + from + `
		WHERE p.supplier_id = $1 AND p.first_staged_at <= $3 AND ` + pending + where + ` ORDER BY ` + order + ` LIMIT $4`, args
}

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
	code           string // of the supplier
	delivery       string
	codes          []string
	listed         int64
}

// candidate is a process that may be chosen.
type candidate struct {
	id, at   int64
	external string
	passed   bool // it failed with a code that is not wanted
}

// failedWith reports whether a failure or one of its violations has one of these
// codes.
func failedWith(text []byte, codes []string) (bool, error) {
	failure, err := readFailure(text, sql.NullInt64{})
	if err != nil || failure == nil {
		return false, err
	}
	return slices.Contains(codes, failure.Code) || slices.ContainsFunc(failure.Violations, func(violation landfall.Violation) bool {
		return slices.Contains(codes, violation.Code)
	}), nil
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
		text, args := was.chooseText()
		found, err = collect(ctx, v.txSession, func(scan scanner, c *candidate) error {
			var failure []byte
			err := scan(&c.id, &c.at, &c.external, v.sealer.scan("process", was.code, &c.external).json("failure", &failure))
			if err == nil && len(was.codes) > 0 {
				c.passed, err = failedWith(failure, was.codes)
				c.passed = !c.passed
			}
			return err
		}, text, args...)
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
	var now, staged int64
	var codes string
	err := v.one(ctx, `SELECT r.id, r.supplier_id, r.selection, r.sample, r.most, r.cutoff, r.cursor_at, r.cursor_external, r.seen,
			r.selected, r.chosen, {now}, coalesce((SELECT max(p.first_staged_at) FROM process p
				WHERE p.supplier_id = r.supplier_id AND `+pending+`), 0), s.code, r.delivery, r.codes, r.listed
			FROM run r JOIN supplier s ON s.id = r.supplier_id WHERE r.number = $1`, []any{id},
		[]any{&c.run, &c.supplier, &c.selection, &c.sample, &c.most, &cutoff, &c.at, &c.external, &c.seen, &c.selected, &c.chosen, &now, &staged,
			&c.code, &c.delivery, &codes, &c.listed})
	if err == nil {
		err = json.Unmarshal([]byte(codes), &c.codes)
	}
	// The first step sets the cutoff for all. Without it, choosing would never
	// end while a supplier keeps staging. If the clock was set back, accounts were
	// staged later than now.
	if c.cutoff = max(now, staged); cutoff.Valid {
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
		is.at, is.external = c.at, c.external
		if c.passed {
			continue
		}
		// Count through all steps, so that a sample does not depend on how the
		// steps are cut.
		if was.sample <= 1 || is.seen%was.sample == 0 {
			members.Add(was.run, is.selected, c.id)
			is.selected++
		}
		is.seen++
	}
	is.chosen = len(found) < chooseBatch || was.most > 0 && is.selected >= was.most
	portions := sqlset.Rows{Table: sliceTable}
	for first := int64(0); is.chosen && first < is.selected; first += landfall.SliceSize {
		portions.Add(was.run, first/landfall.SliceSize, min(landfall.SliceSize, is.selected-first),
			int64(0), int64(0), int64(0), int64(0), int64(0), int64(0), false)
	}
	err = s.update(ctx, landfall.Key{}, func(t *tx) error {
		moved, err := t.exec(ctx, `UPDATE run SET cutoff = $2, cursor_at = $3, cursor_external = $4, seen = $5, selected = $6, chosen = $7
			WHERE id = $1 AND state = 'WAITING' AND seen = $8 AND cursor_external = $9 AND cursor_at = $10 AND chosen = FALSE
				AND (cutoff IS NULL OR cutoff = $2)`,
			was.run, is.cutoff, is.at, is.external, is.seen, is.selected, is.chosen, was.seen, was.external, was.at)
		if err != nil || moved == 0 {
			done = false // another server was faster, or there is nothing left to choose
			return err
		}
		done = is.chosen
		if done && was.listed > 0 {
			if _, err := t.exec(ctx, `DELETE FROM run_listed WHERE run_id = $1`, was.run); err != nil {
				return err
			}
		}
		return t.write(ctx, copyOf(&members), copyOf(&portions))
	})
	return done, err
}

// copyOf returns a copy of rows: writing empties them, and an update may run
// more than once.
func copyOf(rows *sqlset.Rows) *sqlset.Rows {
	return &sqlset.Rows{Table: rows.Table, Values: rows.Values}
}
