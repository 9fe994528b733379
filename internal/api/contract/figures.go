package contract

import (
	"context"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// Figures counts what the account says it consists of, without binding it. The
// currency is the supplier's where the account names none.
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
		figures.SupplyPoints += int64(len(place.Field("supply_points").Items()))
	}
	historical := countTransactions(root.Field("historical_statement_transactions"), &figures)
	current := countTransactions(root.Field("current_statement_transactions"), &figures)
	figures.Balance = landfall.OpeningBalance(amountOf(root.Field("transfer_balance")),
		amountOf(root.Field("last_statement_balance")), historical, current)
	return figures
}

// countTransactions counts a list and gives what it does to the balance.
func countTransactions(list *rules.Node, into *landfall.Figures) (signed money.Amount) {
	for _, item := range list.Items() {
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

// Figures counts what the request would add to its account, in whatever
// currency that is.
func (r *TransactionsRequest) Figures() (figures landfall.Figures) {
	figures.Balance = countTransactions(r.list("transactions"), &figures)
	return figures
}

// DocumentFigures counts what a document says that was staged before figures
// were kept. One that can no longer be read is an account of which nothing
// else is known.
func DocumentFigures(document []byte, currency string) landfall.Figures {
	account, err := ReadAccount(context.Background(), document)
	if err != nil {
		return landfall.Figures{Currency: currency, Accounts: 1}
	}
	return account.Figures(currency)
}
