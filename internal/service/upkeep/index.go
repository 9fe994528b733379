package upkeep

import (
	"context"
	"log/slog"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// Indexer is a store that indexes accounts for the search.
type Indexer interface {
	// IndexTerms indexes one batch of new accounts.
	IndexTerms(ctx context.Context) (landfall.IndexStep, error)
}

// indexInterval is how long a new account may be found by its numbers alone while
// the server is idle.
const indexInterval = limits.SearchIndex

// indexer indexes accounts some time after they were created.
type indexer struct {
	store  Indexer
	log    *slog.Logger
	newest int64 // the newest event after the last step
}

func (i *indexer) step(ctx context.Context) time.Duration {
	began := time.Now()
	done, err := i.store.IndexTerms(ctx)
	if err != nil && ctx.Err() == nil {
		i.log.Warn("cannot index new accounts; until then they are found by their numbers only", "error", err)
	}
	if err != nil || !done.More {
		return indexInterval
	}
	// New events mean that accounts are being created. The indexer falls behind then
	// and catches up afterwards.
	factor := pauseIdle
	if i.newest != done.Newest {
		i.newest, factor = done.Newest, pauseBusy
	}
	return min(limits.UpkeepMaxRest, time.Duration(factor)*time.Since(began))
}
