package sqlstore

import (
	"context"
	"log/slog"
	"time"

	"landfall"
)

const (
	foldEvery = 2 * time.Second
	// foldBatch is how many rows become few in one transaction.
	foldBatch = 2000
	// foldFrom is how many rows of a supplier are worth the trouble, unless
	// they are that many because of their standings and currencies.
	foldFrom = 256
)

// newFolder keeps the tallies short, so that whoever asks adds up few rows.
func newFolder(store *Store, logger *slog.Logger) *chore {
	return newChore(func(ctx context.Context) time.Duration {
		if _, err := store.Fold(ctx); err != nil && ctx.Err() == nil && logger != nil {
			logger.Warn("tallies stay long for now", "error", err)
		}
		return foldEvery
	})
}

// Fold makes few rows of many in the tallies of every supplier, in short
// transactions, and says how many rows are gone. The sums stay what they are
// at every moment, whoever reads, writes or folds meanwhile.
func (s *Store) Fold(ctx context.Context) (gone int, err error) {
	var suppliers []int64
	err = s.stream(ctx, func(v *view) error {
		suppliers, err = collect(ctx, v.session, func(scan scanner, id *int64) error { return scan(id) },
			`SELECT supplier_id FROM tally GROUP BY supplier_id
			HAVING count(*) > $1 AND count(*) > 4 * count(DISTINCT standing || substr(figures, 1, 3))`, int64(foldFrom))
		return err
	})
	for _, supplier := range suppliers {
		for err == nil {
			var less int
			err = s.update(ctx, landfall.Key{}, func(t *tx) (err error) {
				less, err = t.fold(ctx, supplier)
				return err
			})
			if gone += less; less < foldBatch/2 {
				break
			}
		}
	}
	return gone, err
}

// fold replaces the oldest rows of a supplier by their sums. Only what this
// very statement takes away is put back, so that two who fold at once, or a
// writer whose row becomes visible meanwhile, confuse nothing.
func (t *tx) fold(ctx context.Context, supplier int64) (less int, err error) {
	rows, err := collect(ctx, t.session, readTally, `DELETE FROM tally WHERE id IN
		(SELECT id FROM tally WHERE supplier_id = $1 ORDER BY supplier_id, id LIMIT $2) RETURNING standing, figures`,
		supplier, int64(foldBatch))
	if err != nil {
		return 0, err
	}
	var sums tallies
	for _, row := range rows {
		sums.add(supplier, row.standing, row.figures)
	}
	return len(rows) - len(sums.changes), t.tally(ctx, &sums)
}
