package generate

import (
	"encoding/json"

	"landfall"
	"landfall/internal/lib/money"
)

// figures returns the figures of the old system, before any mistake.
func (h *household) figures() landfall.Figures {
	f := landfall.Figures{
		Currency: h.account.Currency, Accounts: 1, Customers: int64(len(h.account.Customers)),
		Notes: int64(len(h.notes)), Statements: int64(len(h.bills)), Balance: parseAmount(h.account.Balance),
	}
	for _, supply := range h.account.Supplies {
		f.SupplyPoints += int64(len(supply.Points))
	}
	for _, list := range [][]transaction{h.account.Historical, h.account.Current, h.latePayments} {
		for _, one := range list {
			f.CountTransaction(landfall.TransactionType(one.Type), parseAmount(one.Amount))
		}
	}
	// These were booked after the export, so the balance does not contain them.
	for _, one := range h.latePayments {
		f.Balance += parseAmount(one.Amount) // all of them are payments
	}
	if h.debit != "" {
		f.Instructions++
	}
	return f
}

// parseAmount parses an amount formatted by pence.
func parseAmount(text string) money.Amount {
	amount, err := money.ParseAmount(text)
	if err != nil {
		panic(err) // formatted by pence
	}
	return amount
}

// controlTotals is control-totals.json.
type controlTotals struct {
	Accounts     int64            `json:"accounts"`
	Customers    int64            `json:"customers"`
	SupplyPoints int64            `json:"supply_points"`
	Notes        int64            `json:"notes"`
	Statements   int64            `json:"statements"`
	Instructions int64            `json:"payment_instructions"`
	Currencies   []currencyTotals `json:"currencies"`
}

// currencyTotals are the control totals of one currency.
type currencyTotals struct {
	Currency     string              `json:"currency"`
	Balances     string              `json:"balances"`
	Transactions []transactionTotals `json:"transactions"`
}

// transactionTotals has amounts as text, to avoid rounding.
type transactionTotals struct {
	Type   string `json:"type"`
	Count  int64  `json:"count"`
	Amount string `json:"amount"`
}

// formatTotals formats the control totals. All accounts have the same currency.
func formatTotals(f landfall.Figures) []byte {
	in := currencyTotals{Currency: f.Currency, Balances: f.Balance.String()}
	for i, kind := range landfall.TransactionTypes {
		if of := f.Transactions[i]; of.Count > 0 {
			in.Transactions = append(in.Transactions, transactionTotals{string(kind), of.Count, of.Amount.String()})
		}
	}
	text, err := json.MarshalIndent(controlTotals{
		f.Accounts, f.Customers, f.SupplyPoints, f.Notes, f.Statements, f.Instructions, []currencyTotals{in},
	}, "", "  ")
	if err != nil {
		panic(err) // cannot fail
	}
	return append(text, '\n')
}
