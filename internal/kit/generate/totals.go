package generate

import (
	"encoding/json"

	"landfall"
	"landfall/internal/lib/money"
)

// figures counts what the old system has of an account, before a mistake is
// made in writing it down.
func (h *household) figures() landfall.Figures {
	f := landfall.Figures{
		Currency: h.account.Currency, Accounts: 1, Customers: int64(len(h.account.Customers)),
		Notes: int64(len(h.notes)), Statements: int64(len(h.bills)), Balance: parseAmount(h.account.Balance),
	}
	for _, index := range h.account.Supplies {
		f.SupplyPoints += int64(len(index.Points))
	}
	for _, list := range [][]transaction{h.account.Historical, h.account.Current, h.latePayments} {
		for _, one := range list {
			f.CountTransaction(landfall.TransactionType(one.Type), parseAmount(one.Amount))
		}
	}
	// These came after the account was read out, so that its balance does not have
	// them yet.
	for _, one := range h.latePayments {
		f.Balance += parseAmount(one.Amount) // payments, all of them
	}
	if h.debit != "" {
		f.Instructions++
	}
	return f
}

// parseAmount reads an amount that was written here.
func parseAmount(text string) money.Amount {
	amount, err := money.ParseAmount(text)
	if err != nil {
		panic(err) // it was written by pence
	}
	return amount
}

// controlTotals is the body of the call that says what a source has.
type controlTotals struct {
	Accounts     int64            `json:"accounts"`
	Customers    int64            `json:"customers"`
	SupplyPoints int64            `json:"supply_points"`
	Notes        int64            `json:"notes"`
	Statements   int64            `json:"statements"`
	Instructions int64            `json:"payment_instructions"`
	Currencies   []currencyTotals `json:"currencies"`
}

// currencyTotals is a currency's part of what the old system claims to have.
type currencyTotals struct {
	Currency     string              `json:"currency"`
	Balances     string              `json:"balances"`
	Transactions []transactionTotals `json:"transactions"`
}

// transactionTotals has amounts as text, which no reader can round.
type transactionTotals struct {
	Type   string `json:"type"`
	Count  int64  `json:"count"`
	Amount string `json:"amount"`
}

// formatTotals writes the control totals. All accounts are in one currency.
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
		panic(err) // structs of texts and numbers can always be written
	}
	return append(text, '\n')
}
