package ledger

import (
	"landfall"
	"landfall/internal/lib/money"
)

// ledger is a ledger under construction, with its running balance.
type ledger struct {
	entries  []landfall.LedgerEntry
	balance  money.Amount
	sequence int // of the last entry
}

// enter is the only place that changes the balance, so balance and sequence
// always match the entries.
func (l *ledger) enter(entry landfall.LedgerEntry) {
	l.balance += entry.Signed
	l.sequence++
	entry.Sequence, entry.Balance = l.sequence, l.balance
	l.entries = append(l.entries, entry)
}

// enterAll enters transactions in the given order. The caller knows whether
// their period is closed.
func (l *ledger) enterAll(transactions []landfall.Transaction, closed bool) {
	for _, transaction := range transactions {
		l.enter(landfall.LedgerEntry{
			Kind: landfall.TransactionEntry, Closed: closed,
			Signed: transaction.Signed(), Transaction: transaction,
		})
	}
}
