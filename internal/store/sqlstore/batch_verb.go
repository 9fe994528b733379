package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"landfall"
	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// batchVerb is a verb that runs for many callers in one transaction with a
// handful of statements. The engine decides which calls share a batch.
type batchVerb[W, O any] struct{ kind *engine.Kind }

// pendingCall is the request of one caller and its outcome.
type pendingCall[W, O any] struct {
	key     landfall.Key
	wanted  W
	outcome O
	err     error // of this call alone
}

// newBatchVerb declares a verb. The function does the work of a batch of calls
// with different keys, sorted by key, and sets the outcome of each call. An
// error applies to the whole batch. The function may be called again with the
// same calls.
func newBatchVerb[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) *batchVerb[W, O] {
	return &batchVerb[W, O]{s.db.NewKind(runBatch(s, run))}
}

// newLongBatchVerb is like newBatchVerb for verbs that run in longer batches if
// the database takes arrays.
func newLongBatchVerb[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) *batchVerb[W, O] {
	return &batchVerb[W, O]{s.db.NewLargeKind(runBatch(s, run))}
}

// newSerialBatchVerb is like newBatchVerb for verbs whose batches need the same
// lock, so that only one runs at a time.
func newSerialBatchVerb[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) *batchVerb[W, O] {
	return &batchVerb[W, O]{s.db.NewSerialKind(runBatch(s, run))}
}

// runBatch returns the function that the engine calls to run a verb.
func runBatch[W, O any](s *Store, run func(*tx, context.Context, []*pendingCall[W, O]) error) func(context.Context, *engine.Tx, []*engine.Call) error {
	return func(ctx context.Context, t *engine.Tx, calls []*engine.Call) error {
		batch := make([]*pendingCall[W, O], len(calls))
		for i, one := range calls {
			batch[i] = one.Work.(*pendingCall[W, O]) //nolint:forcetypeassert // join made it
		}
		// All transactions use the same order, so that two workers never
		// deadlock.
		slices.SortFunc(batch, func(a, b *pendingCall[W, O]) int { return compareKeys(a.key, b.key) })
		return run(s.tx(t), ctx, batch)
	}
}

// do passes a call to the engine and waits for its outcome.
func (j *batchVerb[W, O]) do(ctx context.Context, tenant string, key landfall.Key, weight int, wanted W) (O, error) {
	var none O
	mine := &pendingCall[W, O]{key: key, wanted: wanted}
	err := j.kind.Do(ctx, &engine.Call{
		Tenant: tenant, Key: key.Supplier + "\x00" + key.External, Weight: weight, Work: mine,
	})
	if err != nil {
		return none, translate(err)
	}
	if mine.err != nil {
		return none, mine.err
	}
	return mine.outcome, nil
}

// compareKeys is the order in which all transactions lock rows. Two
// transactions that lock the same rows in different orders would deadlock.
func compareKeys(a, b landfall.Key) int {
	return cmp.Or(cmp.Compare(a.Supplier, b.Supplier), cmp.Compare(a.External, b.External))
}

// pendingCalls contains the calls of a batch that have no outcome yet, in the
// order of the batch.
type pendingCalls[W, O any] struct {
	batch []*pendingCall[W, O]
	byKey map[landfall.Key]*pendingCall[W, O]
}

// newPendingCalls starts with all calls of a batch, also if the batch runs
// again after a lost commit.
func newPendingCalls[W, O any](batch []*pendingCall[W, O]) *pendingCalls[W, O] {
	open := &pendingCalls[W, O]{batch: batch, byKey: make(map[landfall.Key]*pendingCall[W, O], len(batch))}
	for _, one := range batch {
		one.err = nil
		open.byKey[one.key] = one
	}
	return open
}

// rows returns the values of all open calls, with capacity for padding.
func (u *pendingCalls[W, O]) rows(width int, each func([]any, *pendingCall[W, O]) []any) []any {
	rows := make([]any, 0, width*sqlset.Padded(len(u.byKey)))
	for _, one := range u.batch {
		if u.byKey[one.key] == one {
			rows = each(rows, one)
		}
	}
	return rows
}

// set records the outcome of a call.
func (u *pendingCalls[W, O]) set(one *pendingCall[W, O], outcome O) {
	one.outcome = outcome
	delete(u.byKey, one.key)
}
