package ledger

import (
	"landfall"
	"landfall/internal/lib/money"
)

// ledger is a ledger being written on, with its running balance.
type ledger struct {
	entries  []landfall.LedgerEntry
	balance  money.Amount
	sequence int // of the last entry
}

// enter is the only place that adds to a balance, so sum and sequence never part.
func (l *ledger) enter(entry landfall.LedgerEntry) {
	l.balance += entry.Signed
	l.sequence++
	entry.Sequence, entry.Balance = l.sequence, l.balance
	l.entries = append(l.entries, entry)
}

// enterAll enters transactions in the order given; whether their period is closed is
// for the caller to know.
func (l *ledger) enterAll(transactions []landfall.Transaction, closed bool) {
	for _, transaction := range transactions {
		l.enter(landfall.LedgerEntry{
			Kind: landfall.TransactionEntry, Closed: closed,
			Signed: transaction.Signed(), Transaction: transaction,
		})
	}
}
