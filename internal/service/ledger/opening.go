// Package books decides what goes into an account's books: how they open, which
// notes and statements are already there, which day a transaction falls on. It is
// all plain functions of what is known, so that the same decision is taken when an
// account is created and when something is posted onto it later.
package ledger

import (
	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// Open gives a new account its ledger and statement periods.
//
// Whatever part of the opening balance no transaction explains becomes one
// opening entry, so that it can be seen and asked about.
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
	book.enterAll(data.HistoricalTransactions, true)
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

// firstOpenDay is where the books of an account begin that was never billed:
// with its first supply or transaction, at the latest on the day of creation.
func firstOpenDay(data landfall.AccountData, today calendar.Day) calendar.Day {
	first := today
	for _, place := range data.SupplyAddresses {
		for _, point := range place.SupplyPoints {
			if point.StartOn.Before(first) {
				first = point.StartOn
			}
		}
	}
	for _, transaction := range data.CurrentTransactions {
		if transaction.On.Before(first) {
			first = transaction.On
		}
	}
	return first
}

// lastClosedDay is the last day of the closed opening statement, zero when the
// other supplier never billed.
func lastClosedDay(data landfall.AccountData) calendar.Day {
	if !data.LastStatementClosingOn.IsZero() {
		return data.LastStatementClosingOn
	}
	return data.LastBilledToOn
}

// sum counts with signs: a charge and a payment of the same amount come to nothing.
func sum(transactions []landfall.Transaction) money.Amount {
	var total money.Amount
	for _, transaction := range transactions {
		total += transaction.Signed()
	}
	return total
}
