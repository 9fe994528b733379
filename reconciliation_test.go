package landfall_test

import (
	"testing"

	"landfall"
	"landfall/internal/lib/money"
)

// TestControlTotalsSayWhatIsCounted writes a count and an amount of the same measure.
func TestControlTotalsSayWhatIsCounted(t *testing.T) {
	three, amount := money.TotalOf(3), money.TotalOf(12_500)
	totals := landfall.ControlTotals{Claims: map[landfall.Measure]landfall.Value{
		{Kind: "accounts"}: {Count: &three},
		{Kind: landfall.MeasureBalances, Currency: "GBP"}:                     {Amount: &amount},
		{Kind: landfall.MeasureTransactions, Currency: "GBP", Type: "CHARGE"}: {Count: &three, Amount: &amount},
	}}
	const want = "accounts=3, balances.GBP=12.50, transactions.GBP.CHARGE.amount=12.50, transactions.GBP.CHARGE.count=3"
	if got := totals.Text(); got != want {
		t.Errorf("the totals are %q, not %q", got, want)
	}
}
