package generate

import (
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
