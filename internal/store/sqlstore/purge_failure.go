package sqlstore

import (
	"context"
	"database/sql"

	"landfall"
	"landfall/internal/store/seal"
)

// failureTable describes where failures are stored. page selects those of
// supplier $1 after the cursor ($3, $4), with whether each is older than $2. The
// failures of runs are walked one run after the other: a page that spans runs
// could not start in an index, and would read all rows before it again.
// save replaces the one at a cursor by $5, if it is still that old and not
// locked.
type failureTable struct {
	page, save string
	location   seal.Location
	table      string
}

// owner returns what a failure belongs to besides its account: the supplier, or
// the run whose id the page returns.
func (f failureTable) owner(part *purgePage, run int64) any {
	if f.table == "run_failure" {
		return run
	}
	return part.code
}

var (
	failedAttempts = failureTable{
		`SELECT 0, held.external, held.failure, held.failed_at < (SELECT {now}) - $2 FROM process held
			WHERE held.supplier_id = $1 AND held.failed_at IS NOT NULL AND held.skip_reason IS NULL
				AND 0 = CAST($3 AS BIGINT) AND held.external > $4 ORDER BY held.external LIMIT $5`,
		saveAttempt, processFailureLocation, "process"}
	skippedAttempts = failureTable{
		`SELECT held.first_staged_at, held.external, held.failure, coalesce(held.failed_at < (SELECT {now}) - $2, FALSE) FROM process held
			WHERE held.supplier_id = $1 AND held.skip_reason IS NOT NULL AND (held.first_staged_at, held.external) > ($3, $4)
			ORDER BY held.first_staged_at, held.external LIMIT $5`,
		saveAttempt, processFailureLocation, "process"}
	// Without the person, the indexer removes the terms.
	refusedBefore = failureTable{
		`SELECT 0, held.external, held.failure, held.at < (SELECT {now}) - $2 FROM refusal held
			WHERE held.supplier_id = $1 AND 0 = CAST($3 AS BIGINT) AND held.external > $4 ORDER BY held.external LIMIT $5`,
		`UPDATE refusal SET failure = CAST($5 AS {json}), person = NULL, indexed = FALSE WHERE (supplier_id, external) IN (SELECT held.supplier_id, held.external
			FROM refusal held WHERE held.supplier_id = $1 AND held.external = $4 AND 0 = CAST($3 AS BIGINT)
				AND held.at < (SELECT {now}) - $2 {for_update_skip})`, refusalLocation, "refusal"}
	failedInRuns = failureTable{
		`SELECT held.run_id, held.external, held.failure, held.at < (SELECT {now}) - $2 FROM run_failure held
			WHERE CAST($1 AS BIGINT) > 0 AND held.run_id = $3 AND held.external > $4 ORDER BY held.run_id, held.external LIMIT $5`,
		`UPDATE run_failure SET failure = CAST($5 AS {json}) WHERE (run_id, external) IN (SELECT held.run_id, held.external
			FROM run_failure held JOIN run r ON r.id = held.run_id WHERE r.supplier_id = $1 AND held.run_id = $3 AND held.external = $4
				AND held.at < (SELECT {now}) - $2 {for_update_skip})`, runFailureLocation, "run_failure"}
)

// saveAttempt finds a process by its external number alone, which is unique for
// the supplier.
const saveAttempt = `UPDATE process SET failure = CAST($5 AS {json}) WHERE id IN (SELECT held.id FROM process held
	WHERE held.supplier_id = $1 AND held.external = $4 AND CAST($3 AS BIGINT) >= 0 AND held.failed_at < (SELECT {now}) - $2 {for_update_skip})`

// strippedFailure is a failure without its texts, and where to save it.
type strippedFailure struct {
	at         int64
	name, text string
}

// purgeFailures removes the texts of failures, because they repeat what was
// sent. Codes and field paths stay.
func purgeFailures(kept failureTable) purgeStep {
	return func(ctx context.Context, s *Store, part *purgePage) (gone landfall.PurgeCounts, next landfall.PurgeCursor, more bool, err error) {
		var due []strippedFailure
		looked, from := 0, part.from
		err = s.stream(ctx, func(v *view) error {
			due, looked, from, part.unreadable = nil, 0, part.from, nil
			if kept.table == "run_failure" {
				run, err := v.nextRun(ctx, part.supplier, part.from.At)
				if err != nil || run == 0 {
					from.At = 0
					return err
				}
				if run != part.from.At {
					from = landfall.PurgeCursor{At: run}
				}
			}
			_, err := collect(ctx, v.txSession, func(scan scanner, _ *struct{}) error {
				var failure []byte
				var old bool
				var sealed []byte
				if err := scan(&next.At, &next.Name, &sealed, &old); err != nil {
					return err
				}
				looked++
				err := v.sealer.scan(kept.table, kept.owner(part, next.At), next.Name).open("failure", sealed, &failure)
				var text string
				var had bool
				if err == nil {
					text, had, err = stripFailure(failure)
				}
				if err != nil {
					// It must not stop the purge of everything behind it.
					part.unreadable = append(part.unreadable, landfall.UnreadableRow{
						Key: landfall.Key{Supplier: part.code, External: next.Name}, Location: kept.table + ".failure",
					})
					return nil //nolint:nilerr // the row is reported
				}
				if old && had {
					due = append(due, strippedFailure{next.At, next.Name, text})
				}
				return nil
			}, kept.page, part.supplier, part.keep.Microseconds(), from.At, from.Name, int64(purgeBatch))
			return err
		})
		if err != nil {
			return landfall.PurgeCounts{}, landfall.PurgeCursor{}, false, err
		}
		gone.Failures = len(due)
		if len(due) > 0 && !part.dry {
			err = s.update(ctx, landfall.Key{}, func(t *tx) error {
				// Count what was changed. Since the rows were read, one may
				// have failed again or been locked.
				gone.Failures = 0
				for _, one := range due {
					count, err := t.exec(ctx, kept.save, part.supplier, part.keep.Microseconds(), one.at, one.name,
						t.sealer.sealJSON(kept.location, one.text, kept.owner(part, one.at), one.name))
					if err != nil {
						return err
					}
					gone.Failures += int(count)
				}
				return nil
			})
		}
		if kept.table == "run_failure" && looked < purgeBatch {
			return gone, landfall.PurgeCursor{At: from.At + 1}, from.At > 0, err
		}
		return gone, next, looked == purgeBatch, err
	}
}

// nextRun returns the first run of a supplier from an id on; 0 if there is none.
func (v *view) nextRun(ctx context.Context, supplier, from int64) (run int64, err error) {
	err = v.one(ctx, `SELECT r.id FROM run r WHERE r.supplier_id = $1 AND r.id >= $2 ORDER BY r.supplier_id, r.id LIMIT 1`,
		[]any{supplier, from}, []any{&run})
	return run, ignoreNotFound(err)
}

// stripFailure returns a failure without its texts and reports whether it had
// any.
func stripFailure(text []byte) (bare string, had bool, err error) {
	failure, err := readFailure(text, sql.NullInt64{})
	if err != nil || failure == nil {
		return "", false, err
	}
	had = failure.Detail != ""
	failure.Detail = ""
	for i := range failure.Violations {
		had = had || failure.Violations[i].Detail != ""
		failure.Violations[i].Detail = ""
	}
	bare, err = failureText(*failure)
	return bare, had, err
}
