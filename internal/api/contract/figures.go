package contract

import (
	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// Figures counts what the account consists of without converting it. The
// currency is the supplier's unless the account has its own.
func (a *Account) Figures(currency string) landfall.Figures {
	root := a.document.Root()
	figures := landfall.Figures{
		Currency: currency, Accounts: 1,
		Customers:    int64(len(root.Field("customers").Items())),
		Notes:        int64(len(root.Field("notes").Items())),
		Statements:   int64(len(root.Field("statements").Items())),
		Instructions: int64(len(root.Field("payment_instructions").Items())),
	}
	if own := root.Field("currency").Text(); own != "" {
		figures.Currency = own
	}
	for _, place := range root.Field("supply_addresses").Items() {
		figures.SupplyPoints += int64(len(pointsOf(place)))
	}
	historical := countTransactions(transactionsOf(root, "historical_statement_transactions"), &figures)
	current := countTransactions(transactionsOf(root, "current_statement_transactions"), &figures)
	figures.Balance = landfall.OpeningBalance(transferBalance(root), lastBalance(root), historical, current)
	return figures
}

// countTransactions counts a list and returns its effect on the balance.
func countTransactions(list []*rules.Node, into *landfall.Figures) (signed money.Amount) {
	for _, item := range list {
		transaction := landfall.Transaction{
			Type: landfall.TransactionType(item.Field("type").Text()), Amount: item.Field("amount").Amount(),
		}
		into.CountTransaction(transaction.Type, transaction.Amount)
		signed += transaction.Signed()
	}
	return signed
}

// Figures counts what the request would add to its account.
func (r *NotesRequest) Figures() landfall.Figures {
	return landfall.Figures{Notes: int64(len(r.list("notes").Items()))}
}

// Figures counts what the request would add to its account.
func (r *StatementsRequest) Figures() landfall.Figures {
	return landfall.Figures{Statements: int64(len(r.list("statements").Items()))}
}

// Figures counts what the request would add to its account, in the account's
// currency.
func (r *TransactionsRequest) Figures() (figures landfall.Figures) {
	figures.Balance = countTransactions(r.list("transactions").Items(), &figures)
	return figures
}
