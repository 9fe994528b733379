package answer_test

import (
	"encoding/json"
	"net/http"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/lib/money"
)

// claimed is the number of accounts that the source reports.
const claimed = 4

// claim sends the control totals of the source to the service.
func (m *model) claim(r failer) {
	body, err := json.Marshal(map[string]any{"accounts": claimed})
	if err != nil {
		r.Fatal(err)
	}
	told := m.ask(r, answer.SetTotals, answer.Call{Path: [2]string{m.code}, Body: body})
	m.expect(r, "control totals", told, http.StatusOK, "")
}

// value is a count, an amount, or both.
type value struct {
	Count  int64  `json:"count"`
	Amount string `json:"amount"`
}

type measure struct {
	Name      string `json:"measure"`
	Claimed   value  `json:"claimed"`
	Staged    value  `json:"staged"`
	Created   value  `json:"created"`
	Explained struct {
		Pending value `json:"pending"`
		Failed  value `json:"failed"`
		Skipped value `json:"skipped"`
		Moved   value `json:"moved_dates"`
		Other   value `json:"other_figures"`
	} `json:"explained"`
	Unexplained value `json:"unexplained"`
}

// compareReconciliation checks the reconciliation against the maps: every account
// is created, pending, failed, skipped, or was never sent.
func (m *model) compareReconciliation(r failer) {
	var told struct {
		Measures []measure `json:"measures"`
	}
	m.read(r, answer.Reconciliation, &told)
	measures := map[string]measure{}
	for _, one := range told.Measures {
		measures[one.Name] = one
	}
	want := measure{Name: "accounts", Claimed: value{Count: claimed}}
	sums := map[string]landfall.Figures{}
	for _, known := range m.processes {
		if len(known.staged) > 0 {
			want.Staged.Count++
		}
		switch {
		case known.account != nil:
			want.Created.Count++
			sum := sums[known.account.figures.Currency]
			sum.Add(known.account.figures)
			sums[known.account.figures.Currency] = sum
		case known.skipped:
			want.Explained.Skipped.Count++
		case known.failure != nil:
			want.Explained.Failed.Count++
		default:
			want.Explained.Pending.Count++
		}
	}
	for external := range m.refusals {
		if m.processes[external] == nil {
			want.Explained.Failed.Count++
		}
	}
	e := want.Explained
	want.Unexplained.Count = claimed - want.Created.Count - e.Pending.Count - e.Failed.Count - e.Skipped.Count
	if measures["accounts"] != want {
		r.Fatalf("the reconciliation says %+v, want %+v", measures["accounts"], want)
	}
	for _, currency := range []string{"GBP", "EUR"} {
		sum := sums[currency]
		got := measures["balances."+currency].Created.Amount
		if got != sum.Balance.String() && (got != "" || sum.Balance != money.Amount(0)) {
			r.Fatalf("balances in %s are %q, want %s", currency, got, sum.Balance)
		}
		paid := measures["transactions."+currency+".PAYMENT"].Created
		if paid.Count != sum.Transactions[atPayment].Count {
			r.Fatalf("payments in %s are %+v, want %+v", currency, paid, sum.Transactions[atPayment])
		}
	}
}
