package sqlstore

import (
	"context"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// The machinery of batches for the keys of accounts.
type (
	verb[W, O any]         = sqlset.Verb[landfall.Key, W, O]
	group[W, O any]        = sqlset.Group[landfall.Key, W, O]
	pendingCall[W, O any]  = sqlset.Call[landfall.Key, W, O]
	pendingCalls[W, O any] = sqlset.Pending[landfall.Key, W, O]
)

type batchWork[W, O any] func(*tx, context.Context, []*pendingCall[W, O]) error

// onTx adapts the work of a batch to the engine's transactions.
func onTx[W, O any](s *Store, work batchWork[W, O]) sqlset.BatchFunc[landfall.Key, W, O] {
	return func(ctx context.Context, t *engine.Tx, batch []*pendingCall[W, O]) error {
		return work(s.tx(t), ctx, batch)
	}
}

// runVerb runs a verb for the store's caller.
func runVerb[W, O any](ctx context.Context, s *Store, v *verb[W, O], key landfall.Key, weight int, wanted W) (O, error) {
	outcome, err := v.Do(ctx, s.tenant(key), key, weight, wanted)
	return outcome, translate(err)
}

// runGroup runs many calls for the store's caller and returns the outcome of
// each. The first error of a call is returned.
func runGroup[W, O any](ctx context.Context, s *Store, g *group[W, O], keys []landfall.Key, weight int, requests []W) ([]O, error) {
	calls := make([]*pendingCall[W, O], len(requests))
	for i, wanted := range requests {
		calls[i] = &pendingCall[W, O]{Key: keys[i], Wanted: wanted}
	}
	if err := g.Do(ctx, s.tenant(keys[0]), weight*len(requests), calls); err != nil {
		return nil, translate(err)
	}
	outcomes := make([]O, len(calls))
	for i, one := range calls {
		if one.Err != nil {
			return nil, one.Err
		}
		outcomes[i] = one.Outcome
	}
	return outcomes, nil
}
