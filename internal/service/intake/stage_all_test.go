package intake

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall"
)

// A repeated account in one call sees the earlier ones, as if each had been sent
// alone.
func TestStageAllKeepsTheOrderOfOneAccount(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		document := func(external, rest string) []byte {
			return fmt.Appendf(nil, `{"import_supplier":"S","external_account_number":%q,"customers":[{}]%s}`, external, rest)
		}
		const fault, other = `,"nonsense":1`, `,"notes":[{"body":"two"}]`
		for i, story := range [][]string{{"", "", other, other}, {fault, ""}, {"", fault}, {fault, other, "", fault, fault}, {other, fault, other}} {
			together, alone := fmt.Sprint("together ", i), fmt.Sprint("alone ", i)
			handed := []StageItem{{Who: ours, Body: document(fmt.Sprint("beside ", i), "")}}
			var want []string
			for _, rest := range story {
				handed = append(handed, StageItem{Who: ours, Body: document(together, rest)})
				receipt, err := g.Stage(t.Context(), ours, document(alone, rest))
				want = append(want, g.outcome(receipt, err))
			}
			g.StageAll(t.Context(), handed, nil)
			var got []string
			for _, one := range handed {
				got = append(got, g.outcome(one.Receipt, one.Err))
				if one.Supplier != "S" {
					t.Errorf("%d: it is about %q", i, one.Supplier)
				}
			}
			if difference := cmp.Diff(append([]string{"true 1"}, want...), got); difference != "" {
				t.Errorf("%d: %s", i, difference)
			}
			if got, want := g.left(together), g.left(alone); got != want {
				t.Errorf("%d: it left %s, one by one %s", i, got, want)
			}
		}
	})
}

// outcome formats a receipt or an error as one line.
func (g *fixture) outcome(receipt Receipt, err error) string {
	if err != nil {
		return firstAttr(err)
	}
	return fmt.Sprint(receipt.First, receipt.Revision)
}

// left formats the recorded state of an account as one line.
func (g *fixture) left(external string) (said string) {
	g.t.Helper()
	g.view(func(ctx context.Context, view landfall.View) error {
		process, err := view.Process(ctx, testKey(external))
		if err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		refusal, err := view.StagingRefusal(ctx, testKey(external))
		if err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		said = fmt.Sprintf("%s %d %q", process.State, process.Revision, refusal.Failure.Code)
		return nil
	})
	return said
}

// A difference is on record until the account is delivered as it is, in any form,
// by itself or later in the same call.
func TestSameDeliveryClearsTheDifference(t *testing.T) {
	onBoth(t, func(t *testing.T, g *fixture) {
		const same, inOtherWords, other = `,"transfer_balance":12.5`, `, "transfer_balance": "12.50"`, `,"transfer_balance":13`
		g.stage("1", same)
		if _, err := g.process("1", false); err != nil {
			t.Fatal(err)
		}
		deliver := func(want int, rests ...string) {
			t.Helper()
			var items []StageItem
			for _, rest := range rests {
				items = append(items, StageItem{Who: ours, Body: fmt.Appendf(nil, `{"import_supplier":"S","external_account_number":"1","customers":[{}]%s}`, rest)})
			}
			g.StageAll(t.Context(), items, nil)
			for _, item := range items {
				if codeOf(item.Err) != landfall.CodeAlreadyImported {
					t.Errorf("%v", item.Err)
				}
			}
			g.view(func(ctx context.Context, view landfall.View) error {
				refused, err := view.RefusedPostings(ctx, testKey("1"))
				if len(refused) != want {
					t.Errorf("after %q: %+v on record", rests, refused)
				}
				return err
			})
		}
		deliver(0, same)
		deliver(1, other)
		deliver(1, other)
		deliver(0, same)
		deliver(1, other)
		deliver(0, inOtherWords)
		deliver(0, other, same)
		deliver(1, same, other)
		deliver(0, other, inOtherWords)
	})
}
