package book

import (
	"encoding/json"

	"landfall"
)

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

// FormatTotals formats control totals, one item per currency.
func FormatTotals(all ...landfall.Figures) []byte {
	totals := controlTotals{Currencies: []currencyTotals{}}
	for i := range all {
		f := &all[i]
		totals.Accounts += f.Accounts
		totals.Customers += f.Customers
		totals.SupplyPoints += f.SupplyPoints
		totals.Notes += f.Notes
		totals.Statements += f.Statements
		totals.Instructions += f.Instructions
		in := currencyTotals{Currency: f.Currency, Balances: f.Balance.String()}
		for i, kind := range landfall.TransactionTypes {
			if of := f.Transactions[i]; of.Count > 0 {
				in.Transactions = append(in.Transactions, transactionTotals{string(kind), of.Count, of.Amount.String()})
			}
		}
		totals.Currencies = append(totals.Currencies, in)
	}
	text, err := json.MarshalIndent(totals, "", "  ")
	if err != nil {
		panic(err) // cannot fail
	}
	return append(text, '\n')
}
