// Package ledger decides what goes into an account's ledger: how it opens, which
// notes, statements and payment instructions already exist, and which day a
// transaction falls on. It consists of pure functions, so that creating an
// account and posting to it later make the same decisions.
package ledger

import (
	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// Open returns the statement periods, ledger entries and balance of a new
// account.
//
// The part of the opening balance that no transaction explains becomes one
// opening entry, so that it is visible and can be questioned.
func Open(data landfall.AccountData, today calendar.Day) ([]landfall.Period, []landfall.LedgerEntry, money.Amount) {
	historical, current := sum(data.HistoricalTransactions), sum(data.CurrentTransactions)
	opening := landfall.OpeningBalance(data.TransferBalance, data.LastStatementBalance, historical, current)

	closedOn := lastClosedDay(data)
	book := &ledger{}
	if unexplained := opening - historical - current; unexplained != 0 {
		on := closedOn
		if on.IsZero() || on.After(today) { // billed in advance
			on = today
		}
		book.enter(landfall.LedgerEntry{
			Kind: landfall.OpeningEntry, Closed: !closedOn.IsZero(), Signed: unexplained,
			Transaction: landfall.Transaction{On: on},
		})
	}
	// Without a closing date no period is closed, and neither is anything in it. A
	// supplier may allow that by a rule's severity.
	book.enterAll(data.HistoricalTransactions, !closedOn.IsZero())
	closing := book.balance
	book.enterAll(data.CurrentTransactions, false)

	if closedOn.IsZero() {
		return []landfall.Period{{FromOn: firstOpenDay(data, today)}}, book.entries, book.balance
	}
	return []landfall.Period{
		{ToOn: closedOn, Balance: closing},
		{FromOn: closedOn.AddDays(1)},
	}, book.entries, book.balance
}

// firstOpenDay returns the first day of an account that was never billed: the
// day of its first supply or transaction, at the latest the day of creation.
func firstOpenDay(data landfall.AccountData, today calendar.Day) calendar.Day {
	first := today
	for _, place := range data.SupplyAddresses {
		for _, point := range place.SupplyPoints {
			if point.StartOn.Before(first) {
				first = point.StartOn
			}
		}
	}
	for _, transactions := range [][]landfall.Transaction{data.HistoricalTransactions, data.CurrentTransactions} {
		for _, transaction := range transactions {
			if transaction.On.Before(first) {
				first = transaction.On
			}
		}
	}
	return first
}

// lastClosedDay returns the last day of the closed opening statement, or zero if
// the previous supplier never billed.
func lastClosedDay(data landfall.AccountData) calendar.Day {
	if !data.LastStatementClosingOn.IsZero() {
		return data.LastStatementClosingOn
	}
	return data.LastBilledToOn
}

// sum adds signed amounts: a charge and a payment of the same amount cancel out.
func sum(transactions []landfall.Transaction) money.Amount {
	var total money.Amount
	for _, transaction := range transactions {
		total += transaction.Signed()
	}
	return total
}
