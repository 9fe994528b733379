package books

import (
	"landfall"
	"landfall/internal/money"
)

// ledger is a ledger being written on, with its running balance.
type ledger struct {
	entries  []landfall.LedgerEntry
	balance  money.Amount
	sequence int // of the last entry
}

func (l *ledger) enter(entry landfall.LedgerEntry) {
	l.balance += entry.Signed
	l.sequence++
	entry.Sequence, entry.Balance = l.sequence, l.balance
	l.entries = append(l.entries, entry)
}

func (l *ledger) enterAll(transactions []landfall.Transaction, closed bool) {
	for _, transaction := range transactions {
		l.enter(landfall.LedgerEntry{
			Kind: landfall.TransactionEntry, Closed: closed,
			Signed: transaction.Signed(), Transaction: transaction,
		})
	}
}
