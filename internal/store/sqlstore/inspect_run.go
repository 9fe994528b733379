package sqlstore

import (
	"context"
	"fmt"

	"landfall"
)

// inspectSlices is how many slices are read in one transaction.
const inspectSlices = 64

// sliceSums reads the slices after another one, each with whether its sums
// match the outcomes of its members.
const sliceSums = `SELECT s.code, r.number, l.run_id, l.slice,
		l.size = (SELECT count(*) ` + ofSlice + `) AND l.succeeded = (SELECT count(*) ` + ofSlice + ` AND m.outcome = 'succeeded')
		AND l.failed = (SELECT count(*) ` + ofSlice + ` AND m.outcome = 'failed')
		AND l.refused = (SELECT count(*) ` + ofSlice + ` AND m.outcome = 'refused')
	FROM run_slice l JOIN run r ON r.id = l.run_id JOIN supplier s ON s.id = r.supplier_id
	WHERE (l.run_id, l.slice) > ($1, $2) AND r.purged_at IS NULL ORDER BY l.run_id, l.slice LIMIT $3`

// sliceSum is a slice and whether its sums are right.
type sliceSum struct {
	supplier, number string
	run, slice       int64
	right            bool
}

func readSliceSums(scan scanner, one *sliceSum) error {
	return scan(&one.supplier, &one.number, &one.run, &one.slice, &one.right)
}

// The next line does not compile unless a slice has 512 members.
var _ = [1]struct{}{}[landfall.SliceSize-512]

// ofSlice selects the members of a slice l by their ordinals.
const ofSlice = `FROM run_member m WHERE m.run_id = l.run_id AND m.ordinal >= l.slice * 512 AND m.ordinal < (l.slice + 1) * 512`

// inspectRuns looks for slices whose sums do not match the outcomes of their
// members. It reports whether the inspection continues.
func (s *Store) inspectRuns(ctx context.Context, done int, yield func(landfall.Inspection, error) bool) bool {
	for last := (sliceSum{run: -1}); ; {
		var found []sliceSum
		err := s.View(ctx, func(reader landfall.View) (err error) {
			v := reader.(*view) //nolint:forcetypeassert // it is this store's
			found, err = collect(ctx, v.txSession, readSliceSums, sliceSums, last.run, last.slice, int64(inspectSlices))
			return err
		})
		if err != nil {
			yield(landfall.Inspection{Processes: done}, err)
			return false
		}
		for _, one := range found {
			last = one
			if one.right {
				continue
			}
			finding := &landfall.Finding{Key: landfall.Key{Supplier: one.supplier}, Sums: true, What: fmt.Sprintf(
				"the sums of slice %d of run %s do not match the outcomes of its accounts", one.slice, one.number)}
			if !yield(landfall.Inspection{Processes: done, Finding: finding}, nil) {
				return false
			}
		}
		if len(found) < inspectSlices {
			return true
		}
	}
}

// runChecks are checks of whole runs. Each selects the supplier and the number of
// the runs that fail it.
var runChecks = []struct {
	broken string // with a place for the number
	sums   bool   // a recount corrects it
	text   string
}{
	{"run %s has a wrong number of undone accounts", true, `SELECT s.code, r.number FROM run r JOIN supplier s ON s.id = r.supplier_id
		WHERE r.undone <> (SELECT count(*) FROM undone_account u WHERE u.run_id = r.number) ORDER BY r.id`},
	{"run %s does not have the number of accounts that it selected", false, `SELECT s.code, r.number FROM run r JOIN supplier s ON s.id = r.supplier_id
		WHERE r.chosen AND r.purged_at IS NULL
			AND r.selected <> (SELECT coalesce(sum(l.size), 0) FROM run_slice l WHERE l.run_id = r.id) ORDER BY r.id`},
}

// inspectRunTotals checks whole runs. It reports whether the inspection continues.
func (s *Store) inspectRunTotals(ctx context.Context, done int, yield func(landfall.Inspection, error) bool) bool {
	type wrong struct{ supplier, number string }
	for _, check := range runChecks {
		var found []wrong
		err := s.View(ctx, func(reader landfall.View) (err error) {
			v := reader.(*view) //nolint:forcetypeassert // it is this store's
			found, err = collect(ctx, v.txSession, func(scan scanner, one *wrong) error { return scan(&one.supplier, &one.number) }, check.text)
			return err
		})
		if err != nil {
			yield(landfall.Inspection{Processes: done}, err)
			return false
		}
		for _, one := range found {
			finding := &landfall.Finding{Key: landfall.Key{Supplier: one.supplier}, Sums: check.sums, What: fmt.Sprintf(check.broken, one.number)}
			if !yield(landfall.Inspection{Processes: done, Finding: finding}, nil) {
				return false
			}
		}
	}
	return true
}
