package upkeep

import (
	"context"
	"log/slog"
	"time"

	"landfall/internal/lib/limits"
)

// TallyStore keeps the sums of each supplier's accounts as rows that are only added.
type TallyStore interface {
	// LongTallies returns the suppliers that have more than the given number of rows,
	// and far more than their sums need.
	LongTallies(ctx context.Context, rows int) ([]int64, error)
	// CompactTally replaces the oldest rows of a supplier by their sums. It returns how
	// many rows it removed, and whether another step is worthwhile.
	CompactTally(ctx context.Context, supplier int64) (removed int, more bool, err error)
}

const (
	// longTally is the number of rows of a supplier above which compacting pays.
	longTally = 256
)

// compactor keeps tallies short, so that reading one adds up few rows.
type compactor struct {
	store TallyStore
	log   *slog.Logger
}

func (c *compactor) step(ctx context.Context) time.Duration {
	if _, err := CompactTallies(ctx, c.store); err != nil && ctx.Err() == nil {
		c.log.Warn("cannot compact tallies; reconciliation reads more rows until then", "error", err)
	}
	return limits.CounterFold
}

// CompactTallies compacts the tallies of every supplier that has many rows, and
// returns how many rows it removed.
func CompactTallies(ctx context.Context, store TallyStore) (removed int, err error) {
	suppliers, err := store.LongTallies(ctx, longTally)
	for _, supplier := range suppliers {
		for more := true; more && err == nil; {
			var fewer int
			fewer, more, err = store.CompactTally(ctx, supplier)
			removed += fewer
		}
	}
	return removed, err
}
