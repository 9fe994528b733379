package sqlset

import (
	"context"
	"errors"
	"slices"

	"landfall/internal/store/engine"
)

// Key identifies what a call changes. All transactions lock in the order of
// their keys: two that lock the same rows in different orders would deadlock.
type Key[K any] interface {
	comparable
	Compare(other K) int
}

// Call is the request of one caller and its outcome.
type Call[K Key[K], W, O any] struct {
	Key     K
	Wanted  W
	Outcome O
	Err     error // of this call alone
}

// BatchFunc does the work of a batch of calls with different keys, sorted by key, and
// sets the outcome of each call. An error applies to the whole batch. It may run
// again with the same calls.
type BatchFunc[K Key[K], W, O any] func(context.Context, *engine.Tx, []*Call[K, W, O]) error

// Verb is an operation that runs for many callers in one transaction with a few
// statements. The engine decides which calls share a batch.
type Verb[K Key[K], W, O any] struct{ kind *engine.Kind }

// KindFunc declares a kind of work, as engine.DB.NewKind does.
type KindFunc func(func(context.Context, *engine.Tx, []*engine.Call) error) *engine.Kind

// NewVerb declares a verb. The kind decides how many calls share a batch.
func NewVerb[K Key[K], W, O any](declare KindFunc, work BatchFunc[K, W, O]) *Verb[K, W, O] {
	return &Verb[K, W, O]{declare(func(ctx context.Context, t *engine.Tx, calls []*engine.Call) error {
		batch := make([]*Call[K, W, O], len(calls))
		for i, one := range calls {
			batch[i] = one.Work.(*Call[K, W, O]) //nolint:forcetypeassert // Do made it
		}
		SortCalls(batch)
		return work(ctx, t, batch)
	})}
}

// SortCalls sorts calls by their keys.
func SortCalls[K Key[K], W, O any](calls []*Call[K, W, O]) {
	slices.SortFunc(calls, func(a, b *Call[K, W, O]) int { return a.Key.Compare(b.Key) })
}

// Do runs the verb for a tenant. The weight is about the size of the request in
// bytes.
func (v *Verb[K, W, O]) Do(ctx context.Context, tenant string, key K, weight int, wanted W) (O, error) {
	var none O
	mine := &Call[K, W, O]{Key: key, Wanted: wanted}
	if err := v.kind.Do(ctx, &engine.Call{Tenant: tenant, Key: key, Weight: weight, Work: mine}); err != nil {
		return none, err
	}
	if mine.Err != nil {
		return none, mine.Err
	}
	return mine.Outcome, nil
}

// MaxGroup is how many calls of a group go into one statement if the database
// takes arrays.
const MaxGroup = 512

// Group is a verb for callers that bring many calls at once. Those of one caller
// are committed together or not at all.
type Group[K Key[K], W, O any] struct{ kind *engine.Kind }

// NewGroup declares a group. With arrays, up to size calls are one batch.
func NewGroup[K Key[K], W, O any](declare KindFunc, size int, work BatchFunc[K, W, O]) *Group[K, W, O] {
	return &Group[K, W, O]{declare(func(ctx context.Context, t *engine.Tx, calls []*engine.Call) error {
		undone := true
		for _, one := range calls {
			for batch := range slices.Chunk(one.Work.([]*Call[K, W, O]), BatchSize(t, size)) { //nolint:forcetypeassert // Do made it
				err := work(ctx, t, batch)
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
	})}
}

// BatchSize returns how many calls one statement takes: size if the database
// takes arrays, and otherwise MaxBatch.
func BatchSize(t *engine.Tx, size int) int {
	if t.Arrays() {
		return size
	}
	return MaxBatch
}

// Do runs calls with different keys for a tenant and sets the outcome of each.
func (g *Group[K, W, O]) Do(ctx context.Context, tenant string, weight int, calls []*Call[K, W, O]) error {
	sorted := slices.Clone(calls)
	SortCalls(sorted)
	return g.kind.Do(ctx, &engine.Call{Tenant: tenant, Weight: weight, Work: sorted})
}

// Pending contains the calls of a batch that have no outcome yet.
type Pending[K Key[K], W, O any] struct {
	Batch []*Call[K, W, O]
	ByKey map[K]*Call[K, W, O]
}

// NewPending starts with all calls of a batch, also if the batch runs again
// after a lost commit.
func NewPending[K Key[K], W, O any](batch []*Call[K, W, O]) *Pending[K, W, O] {
	pending := &Pending[K, W, O]{Batch: batch, ByKey: make(map[K]*Call[K, W, O], len(batch))}
	for _, one := range batch {
		one.Err = nil
		pending.ByKey[one.Key] = one
	}
	return pending
}

// Rows returns the values of all pending calls in the order of the batch, with
// capacity for padding.
func (p *Pending[K, W, O]) Rows(width int, each func([]any, *Call[K, W, O]) []any) []any {
	rows := make([]any, 0, width*Padded(len(p.ByKey)))
	for _, one := range p.Batch {
		if p.ByKey[one.Key] == one {
			rows = each(rows, one)
		}
	}
	return rows
}

// Set records the outcome of a call.
func (p *Pending[K, W, O]) Set(one *Call[K, W, O], outcome O) {
	one.Outcome = outcome
	delete(p.ByKey, one.Key)
}
