package sqlstore

import (
	"context"

	"landfall"
)

// compactBatch is how many rows of a tally one transaction replaces.
const compactBatch = 2000

// LongTallies returns the suppliers whose tallies have more rows than the given
// number, and more than four for each status and currency.
func (s *Store) LongTallies(ctx context.Context, rows int) (suppliers []int64, err error) {
	err = s.stream(ctx, func(v *view) error {
		suppliers, err = collect(ctx, v.txSession, func(scan scanner, id *int64) error { return scan(id) },
			`SELECT supplier_id FROM tally GROUP BY supplier_id
			HAVING count(*) > $1 AND count(*) > 4 * count(DISTINCT standing || substr(figures, 1, 3))`, int64(rows))
		return err
	})
	return suppliers, err
}

// CompactTally replaces the oldest rows of a supplier's tally by their sums, in
// one short transaction. The sums are exact at every moment, even while others
// read, write or compact.
func (s *Store) CompactTally(ctx context.Context, supplier int64) (removed int, more bool, err error) {
	err = s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
		removed, err = t.compactTally(ctx, supplier)
		return err
	})
	return removed, removed >= compactBatch/2, err
}

// compactTally replaces the oldest rows of a supplier by their sums. It adds
// back exactly what its own DELETE removed, so concurrent compactions and
// writers cannot make the sums wrong.
func (t *tx) compactTally(ctx context.Context, supplier int64) (less int, err error) {
	rows, err := collect(ctx, t.txSession, readTally, `DELETE FROM tally WHERE id IN
		(SELECT id FROM tally WHERE supplier_id = $1 ORDER BY supplier_id, id LIMIT $2) RETURNING standing, figures`,
		supplier, int64(compactBatch))
	if err != nil {
		return 0, err
	}
	var sums tallies
	for _, row := range rows {
		sums.add(supplier, row.status, row.figures)
	}
	return len(rows) - len(sums.changes), t.tally(ctx, &sums)
}
