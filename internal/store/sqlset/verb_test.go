package sqlset_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
)

// itemName is the key of the calls.
type itemName string

// Compare orders names by their bytes.
func (n itemName) Compare(other itemName) int { return cmp.Compare(n, other) }

type addCall = sqlset.Call[itemName, int64, int64]

var errRefused = errors.New("refused")

// add adds to the values of items with one statement and returns the new values.
// It refuses negative numbers. It fails if the batch is not sorted or has a key
// twice.
var add = sqlset.NewQuery(` INSERT INTO item (name, value) SELECT w.name, w.value FROM wanted w WHERE w.name IS NOT NULL {in order}
	ON CONFLICT (name) DO UPDATE SET value = item.value + excluded.value RETURNING name, value`, "name text", "value bigint")

func addAll(ctx context.Context, tx *engine.Tx, batch []*addCall) error {
	pending := sqlset.NewPending(batch)
	for i, one := range batch {
		if i > 0 && one.Key.Compare(batch[i-1].Key) <= 0 {
			return fmt.Errorf("%q comes after %q", one.Key, batch[i-1].Key)
		}
		if one.Wanted < 0 {
			pending.Set(one, 0)
			one.Err = errRefused
		}
	}
	if len(pending.ByKey) == 0 {
		return engine.ErrUndone
	}
	text, args := add.For(tx, pending.Rows(2, func(rows []any, one *addCall) []any { return append(rows, string(one.Key), one.Wanted) }))
	found, err := sqlset.Collect(ctx, tx, scanItem, text, args...)
	for _, one := range found {
		pending.Set(pending.ByKey[itemName(one.name)], one.value)
	}
	if err == nil && len(pending.ByKey) > 0 {
		err = fmt.Errorf("%d calls have no outcome", len(pending.ByKey))
	}
	return err
}

// TestCallersOfAVerbGetTheirOwnOutcomes runs many calls at once, several for each
// key and some that are refused.
func TestCallersOfAVerbGetTheirOwnOutcomes(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		for size, verb := range map[string]*sqlset.Verb[itemName, int64, int64]{
			"small": sqlset.NewVerb(db.NewKind, addAll), "large": sqlset.NewVerb(db.NewLargeKind, addAll),
		} {
			const keys, times = 40, 5
			var callers sync.WaitGroup
			var mu sync.Mutex
			outcomes := map[itemName][]int64{}
			for number := range keys * times {
				key := itemName(fmt.Sprintf("%s %02d", size, number%keys))
				callers.Go(func() {
					got, err := verb.Do(t.Context(), "tenant", key, 100, 1)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					defer mu.Unlock()
					outcomes[key] = append(outcomes[key], got)
				})
				if number%10 == 0 {
					callers.Go(func() {
						if _, err := verb.Do(t.Context(), "tenant", "refused "+key, 100, -1); !errors.Is(err, errRefused) {
							t.Errorf("got %v", err)
						}
					})
				}
			}
			callers.Wait()
			for key, found := range outcomes {
				slices.Sort(found)
				if !slices.Equal(found, []int64{1, 2, 3, 4, 5}) {
					t.Errorf("%s: %v", key, found)
				}
			}
		}
		if found := readItems(t, db); len(found) != 80 {
			t.Errorf("%d items", len(found))
		}
	})
}

// TestOutcomesOfAGroupBelongToTheirCalls runs groups that are longer than a
// batch and not sorted.
func TestOutcomesOfAGroupBelongToTheirCalls(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		group := sqlset.NewGroup(db.NewGroupKind, sqlset.MaxGroup, func(ctx context.Context, tx *engine.Tx, batch []*addCall) error {
			if most := sqlset.BatchSize(tx, sqlset.MaxGroup); len(batch) > most {
				return fmt.Errorf("a batch of %d calls, want at most %d", len(batch), most)
			}
			return addAll(ctx, tx, batch)
		})
		calls := make([]*addCall, 1200)
		for i := range calls {
			calls[i] = &addCall{Key: itemName(fmt.Sprintf("%05d", len(calls)-i)), Wanted: int64(i)}
		}
		calls[7].Wanted = -1
		if err := group.Do(t.Context(), "tenant", 1, calls); err != nil {
			t.Fatal(err)
		}
		for i, one := range calls {
			if refused := i == 7; errors.Is(one.Err, errRefused) != refused || !refused && one.Outcome != int64(i) {
				t.Errorf("call %d: %d, %v", i, one.Outcome, one.Err)
			}
		}
	})
}

// TestFailedGroupStoresNothing makes the last batch of a group fail.
func TestFailedGroupStoresNothing(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		errLast := errors.New("the last batch failed")
		group := sqlset.NewGroup(db.NewGroupKind, sqlset.MaxBatch, func(ctx context.Context, tx *engine.Tx, batch []*addCall) error {
			if batch[len(batch)-1].Key == "last" {
				return errLast
			}
			return addAll(ctx, tx, batch)
		})
		calls := []*addCall{{Key: "last", Wanted: 1}}
		for i := range 3 * sqlset.MaxBatch {
			calls = append(calls, &addCall{Key: itemName(fmt.Sprintf("%05d", i)), Wanted: 1})
		}
		if err := group.Do(t.Context(), "tenant", 1, calls); !errors.Is(err, errLast) {
			t.Errorf("got %v", err)
		}
		if found := readItems(t, db); len(found) != 0 {
			t.Errorf("%d items were stored", len(found))
		}
	})
}

// TestGroupIsRolledBackIfEveryBatchSaysSo writes in a group whose batches all
// return ErrUndone, and in one where only one of them does.
func TestGroupIsRolledBackIfEveryBatchSaysSo(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		group := sqlset.NewGroup(db.NewGroupKind, sqlset.MaxBatch, func(ctx context.Context, tx *engine.Tx, batch []*addCall) error {
			if err := addAll(ctx, tx, batch); err != nil {
				return err
			}
			if batch[0].Key >= "b" {
				return engine.ErrUndone
			}
			return nil
		})
		var undone, stored []*addCall
		for i := range sqlset.MaxBatch {
			undone = append(undone, &addCall{Key: itemName(fmt.Sprintf("b%05d", i)), Wanted: 1})
			stored = append(stored, &addCall{Key: itemName(fmt.Sprintf("a%05d", i)), Wanted: 1})
		}
		for _, step := range []struct {
			calls []*addCall
			want  int
		}{{undone, 0}, {slices.Concat(undone, stored), 2 * sqlset.MaxBatch}} {
			if err := group.Do(t.Context(), "tenant", 1, step.calls); err != nil {
				t.Fatal(err)
			}
			if found := readItems(t, db); len(found) != step.want {
				t.Errorf("%d items, want %d", len(found), step.want)
			}
		}
	})
}

// TestPendingCallsStartAgain runs a batch twice, as after a lost commit.
func TestPendingCallsStartAgain(t *testing.T) {
	batch := []*addCall{{Key: "a"}, {Key: "b", Err: errRefused}, {Key: "c"}}
	for range 2 {
		pending := sqlset.NewPending(batch)
		if batch[1].Err != nil {
			t.Error("the error of the first attempt was kept")
		}
		pending.Set(batch[0], 7)
		rows := pending.Rows(1, func(rows []any, one *addCall) []any { return append(rows, string(one.Key)) })
		if !slices.Equal(rows, []any{"b", "c"}) {
			t.Errorf("pending are %v", rows)
		}
		batch[1].Err = errRefused
	}
}
