package sqlstore

import (
	"context"
	"errors"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// group is many wishes of one caller, which share their fate.
type group[W, O any] struct{ calls []*pendingCall[W, O] }

// longestGroup is how many wishes go into one statement where that takes arrays.
const longestGroup = 512

// newGroup declares a verb that is joint, for callers who bring whole batches,
// of which so many at once are done with arrays.
func newGroup[W, O any](s *Store, most int, run func(*tx, context.Context, []*pendingCall[W, O]) error) *engine.Kind {
	return s.db.NewGroupKind(func(ctx context.Context, t *engine.Tx, calls []*engine.Call) error {
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

// runGroup hands wishes to the engine together and gives what became of each.
func runGroup[W, O any](ctx context.Context, kind *engine.Kind, weight int, keys []landfall.Key, wishes []W) ([]O, error) {
	mine := &group[W, O]{calls: make([]*pendingCall[W, O], len(wishes))}
	for i, wanted := range wishes {
		mine.calls[i] = &pendingCall[W, O]{key: keys[i], wanted: wanted}
	}
	order := slices.Clone(mine.calls)
	// One order for everybody, so that two lanes never wait for each other.
	slices.SortFunc(mine.calls, func(a, b *pendingCall[W, O]) int { return compareKeys(a.key, b.key) })
	err := kind.Do(ctx, &engine.Call{Tenant: tenant(ctx, keys[0]), Weight: weight * len(wishes), Work: mine})
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
