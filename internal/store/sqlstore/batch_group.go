package sqlstore

import (
	"context"
	"errors"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// group is a set of requests of one caller that succeed or fail together.
type group[W, O any] struct{ calls []*pendingCall[W, O] }

// longestGroup is how many requests go into one statement if the database takes
// arrays.
const longestGroup = 512

// newGroup declares a batch verb for callers that bring whole batches. With
// arrays, one statement handles up to most requests.
func newGroup[W, O any](
	s *Store, declare func(func(context.Context, *engine.Tx, []*engine.Call) error) *engine.Kind,
	most int, run func(*tx, context.Context, []*pendingCall[W, O]) error,
) *engine.Kind {
	return declare(func(ctx context.Context, t *engine.Tx, calls []*engine.Call) error {
		undone, size := true, sqlset.MaxBatch
		if t.Arrays() {
			size = most
		}
		for _, one := range calls {
			for batch := range slices.Chunk(one.Work.(*group[W, O]).calls, size) { //nolint:forcetypeassert // grouped made it
				err := run(s.tx(t), ctx, batch)
				if err != nil && !errors.Is(err, engine.ErrUndone) {
					return err
				}
				undone = undone && err != nil
			}
		}
		if undone {
			return engine.ErrUndone
		}
		return nil
	})
}

// runGroup passes requests to the engine together and returns the outcome of
// each.
func runGroup[W, O any](ctx context.Context, kind *engine.Kind, tenant string, weight int, keys []landfall.Key, requests []W) ([]O, error) {
	mine := &group[W, O]{calls: make([]*pendingCall[W, O], len(requests))}
	for i, wanted := range requests {
		mine.calls[i] = &pendingCall[W, O]{key: keys[i], wanted: wanted}
	}
	order := slices.Clone(mine.calls)
	// All transactions use the same order, so that two workers never deadlock.
	slices.SortFunc(mine.calls, func(a, b *pendingCall[W, O]) int { return compareKeys(a.key, b.key) })
	err := kind.Do(ctx, &engine.Call{Tenant: tenant, Weight: weight * len(requests), Work: mine})
	if err != nil {
		return nil, translate(err)
	}
	outcomes := make([]O, len(order))
	for i, one := range order {
		if one.err != nil {
			return nil, one.err
		}
		outcomes[i] = one.outcome
	}
	return outcomes, nil
}
