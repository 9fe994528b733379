package sqlstore

import (
	"context"
	"errors"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
)

// StageAll stores many documents durably. Each succeeds or fails on its own.
func (s *Store) StageAll(ctx context.Context, stagings []landfall.Staging, turn landfall.Turn) []landfall.StageResult {
	results := make([]landfall.StageResult, len(stagings))
	mine := &group[stagedDocument, landfall.StageOutcome]{calls: make([]*stageCall, 0, len(stagings))}
	calls, order := make([]stageCall, len(stagings)), make([]*stageCall, len(stagings))
	weight := 0
	leave := turn.Wait(ctx)
	for i := range stagings {
		one := &calls[i]
		if results[i].Err = s.newDocument(&stagings[i], &one.wanted); results[i].Err == nil {
			one.key, order[i] = stagings[i].Key, one
			mine.calls = append(mine.calls, one)
			weight += len(one.wanted.kept)
		}
	}
	leave()
	if len(mine.calls) == 0 {
		return results
	}
	// Use the same order everywhere, so that two batches never deadlock.
	slices.SortFunc(mine.calls, func(a, b *stageCall) int { return compareKeys(a.key, b.key) })
	err := s.groupStagings.Do(ctx, &engine.Call{Tenant: s.tenant(mine.calls[0].key), Weight: weight, Work: mine})
	for i, one := range order {
		switch {
		case one == nil:
		case err == nil:
			results[i] = landfall.StageResult{StageOutcome: one.outcome, Err: one.err}
		// If the database is in trouble, trying each of them again would only
		// lengthen its queue.
		case errors.Is(err, engine.ErrUnavailable), errors.Is(err, engine.ErrUnknownOutcome):
			results[i].Err = translate(err)
		default:
			// One of them made the batch fail, and nothing was stored. Try each
			// on its own.
			results[i].StageOutcome, results[i].Err = s.stagings.do(ctx, s.tenant(one.key), one.key, len(one.wanted.kept), one.wanted)
		}
	}
	return results
}
