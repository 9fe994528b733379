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
		said = fmt.Sprintf("%s %d %q", process.State, process.Revision, refusal.Code)
		return nil
	})
	return said
}
