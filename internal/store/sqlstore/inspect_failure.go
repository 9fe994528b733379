package sqlstore

import (
	"context"

	"landfall"
)

// failurePages select the stored failures, each with the id that its table is
// sorted by, after the row ($1, $2).
var failurePages = []struct{ table, broken, page string }{
	{"process", "its failure cannot be read", `SELECT f.supplier_id, s.code, f.external, f.failure FROM process f
		JOIN supplier s ON s.id = f.supplier_id WHERE (f.supplier_id, f.external) > ($1, $2) AND f.failed_at IS NOT NULL AND f.skip_reason IS NULL
		ORDER BY f.supplier_id, f.external LIMIT $3`},
	{"refusal", "the refusal of its staging cannot be read", `SELECT f.supplier_id, s.code, f.external, f.failure FROM refusal f
		JOIN supplier s ON s.id = f.supplier_id WHERE (f.supplier_id, f.external) > ($1, $2) ORDER BY f.supplier_id, f.external LIMIT $3`},
	{"run_failure", "its failure in a run cannot be read", `SELECT f.run_id, s.code, f.external, f.failure FROM run_failure f
		JOIN run r ON r.id = f.run_id JOIN supplier s ON s.id = r.supplier_id
		WHERE (f.run_id, f.external) > ($1, $2) ORDER BY f.run_id, f.external LIMIT $3`},
}

// inspectedFailure is a row of failurePages.
type inspectedFailure struct {
	id  int64
	key landfall.Key
	bad bool // it cannot be read
}

// inspectFailures looks for failures that cannot be read. It reports whether the
// inspection continues.
func (s *Store) inspectFailures(ctx context.Context, done int, yield func(landfall.Inspection, error) bool) bool {
	for _, pages := range failurePages {
		last := inspectedFailure{id: -1}
		for more := true; more; {
			var found []inspectedFailure
			err := s.View(ctx, func(reader landfall.View) (err error) {
				v := reader.(*view) //nolint:forcetypeassert // it is this store's
				found, err = collect(ctx, v.txSession, v.readInspectedFailure(pages.table), pages.page, last.id, last.key.External, int64(inspectBatch))
				return err
			})
			if err != nil {
				yield(landfall.Inspection{Processes: done}, err)
				return false
			}
			for _, last = range found {
				finding := &landfall.Finding{Key: last.key, What: pages.broken}
				if last.bad && !yield(landfall.Inspection{Processes: done, Finding: finding}, nil) {
					return false
				}
			}
			more = len(found) == inspectBatch
		}
	}
	return true
}

// readInspectedFailure scans a row and tries to read its failure.
func (v *view) readInspectedFailure(table string) func(scanner, *inspectedFailure) error {
	return func(scan scanner, one *inspectedFailure) error {
		var sealed, failure []byte
		if err := scan(&one.id, &one.key.Supplier, &one.key.External, &sealed); err != nil {
			return err
		}
		owner := any(one.key.Supplier)
		if table == "run_failure" {
			owner = one.id
		}
		err := v.sealer.scan(table, owner, one.key.External).open("failure", sealed, &failure)
		if err == nil {
			_, _, err = stripFailure(failure)
		}
		one.bad = err != nil
		return nil
	}
}
