package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// batchVerb is a verb that is done for many callers in one transaction with a
// handful of statements. The engine decides who travels together.
type batchVerb[W, O any] struct{ kind *engine.Kind }

// pendingCall is one caller's wish.
type pendingCall[W, O any] struct {
	key     landfall.Key
	wanted  W
	outcome O
	err     error // of this call alone
}

// newBatchVerb declares a verb. The function does the work of a batch of different
// keys, sorted, and sets what became of each call. An error is the whole
// batch's. It may be called again with the same calls.
func newBatchVerb[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) *batchVerb[W, O] {
	return &batchVerb[W, O]{s.db.NewKind(runBatch(s, run))}
}

// newLongBatchVerb is newJoint for what is done in longer batches where arrays are taken.
func newLongBatchVerb[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) *batchVerb[W, O] {
	return &batchVerb[W, O]{s.db.NewLargeKind(runBatch(s, run))}
}

// runBatch is how the engine calls a verb.
func runBatch[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) func(context.Context, *engine.Tx, []*engine.Call) error {
	return func(ctx context.Context, t *engine.Tx, calls []*engine.Call) error {
		batch := make([]*pendingCall[W, O], len(calls))
		for i, one := range calls {
			batch[i] = one.Work.(*pendingCall[W, O]) //nolint:forcetypeassert // join made it
		}
		// One order for everybody, so that two lanes never wait for each other.
		slices.SortFunc(batch, func(a, b *pendingCall[W, O]) int { return compareKeys(a.key, b.key) })
		return run(s.tx(t), ctx, batch)
	}
}

// do hands a call to the engine and waits for what becomes of it.
func (j *batchVerb[W, O]) do(ctx context.Context, key landfall.Key, weight int, wanted W) (O, error) {
	var none O
	mine := &pendingCall[W, O]{key: key, wanted: wanted}
	err := j.kind.Do(ctx, &engine.Call{
		Tenant: tenant(ctx, key), Key: key.Supplier + "\x00" + key.External, Weight: weight, Work: mine,
	})
	if err != nil {
		return none, translate(err)
	}
	if mine.err != nil {
		return none, mine.err
	}
	return mine.outcome, nil
}

// tenant says whose work it is: the organisation that asks, or where that is
// not known the supplier it is about.
func tenant(ctx context.Context, key landfall.Key) string {
	who := cmp.Or(landfall.OnBehalfOf(ctx), key.Supplier)
	if landfall.Patient(ctx) {
		// Work that has time stands in a line of its own, or what an
		// organisation does one by one would wait for what it does in bulk.
		who += "\x00patient"
	}
	return who
}

// compareKeys is the order in which everybody locks rows: two transactions that lock
// the same rows in other orders wait for each other for ever.
func compareKeys(a, b landfall.Key) int {
	return cmp.Or(cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.External, b.External))
}

// pendingCalls is what of a batch has no answer yet, in the order of the batch.
type pendingCalls[W, O any] struct {
	batch []*pendingCall[W, O]
	byKey map[landfall.Key]*pendingCall[W, O]
}

// newPendingCalls begins anew, also for a batch that is run again after a lost commit.
func newPendingCalls[W, O any](batch []*pendingCall[W, O]) *pendingCalls[W, O] {
	open := &pendingCalls[W, O]{batch: batch, byKey: make(map[landfall.Key]*pendingCall[W, O], len(batch))}
	for _, one := range batch {
		one.err = nil
		open.byKey[one.key] = one
	}
	return open
}

// rows gives the values of every open call, with room for what pads them.
func (u *pendingCalls[W, O]) rows(width int, each func([]any, *pendingCall[W, O]) []any) []any {
	rows := make([]any, 0, width*sqlset.Padded(len(u.byKey)))
	for _, one := range u.batch {
		if u.byKey[one.key] == one {
			rows = each(rows, one)
		}
	}
	return rows
}

// set sets what became of a call.
func (u *pendingCalls[W, O]) set(one *pendingCall[W, O], outcome O) {
	one.outcome = outcome
	delete(u.byKey, one.key)
}
