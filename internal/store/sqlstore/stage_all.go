package sqlstore

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/store/engine"
)

// StageAll stores many documents durably. Each succeeds or fails on its own.
func (s *Store) StageAll(ctx context.Context, stagings []landfall.Staging, turn landfall.Turn) []landfall.StageResult {
	results := make([]landfall.StageResult, len(stagings))
	mine := make([]*stageCall, 0, len(stagings))
	calls, order := make([]stageCall, len(stagings)), make([]*stageCall, len(stagings))
	weight := 0
	leave := turn.Wait(ctx)
	for i := range stagings {
		one := &calls[i]
		if results[i].Err = s.newDocument(&stagings[i], &one.Wanted); results[i].Err == nil {
			one.Key, order[i] = stagings[i].Key, one
			mine = append(mine, one)
			weight += len(one.Wanted.kept)
		}
	}
	leave()
	if len(mine) == 0 {
		return results
	}
	err := s.groupStagings.Do(ctx, s.tenant(mine[0].Key), weight, mine)
	for i, one := range order {
		switch {
		case one == nil:
		case err == nil:
			results[i] = landfall.StageResult{StageOutcome: one.Outcome, Err: one.Err}
		// If the database is in trouble, trying each of them again would only
		// lengthen its queue.
		case errors.Is(err, engine.ErrUnavailable), errors.Is(err, engine.ErrUnknownOutcome):
			results[i].Err = translate(err)
		default:
			// One of them made the batch fail, and nothing was stored. Try each
			// on its own.
			results[i].StageOutcome, results[i].Err = runVerb(ctx, s, s.stagings, one.Key, len(one.Wanted.kept), one.Wanted)
		}
	}
	return results
}
