package landfall

import (
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// EntryKind is the kind of a ledger entry.
type EntryKind string

// The kinds of entry.
const (
	OpeningEntry     EntryKind = "opening"     // a balance without transactions
	TransactionEntry EntryKind = "transaction" // one financial transaction
)

// LedgerEntry is one signed change of an account's balance. The balance of an
// account is always the sum of its entries, and each entry contains the balance
// after it.
type LedgerEntry struct {
	Sequence    int // counted from 1 within the account
	Kind        EntryKind
	Closed      bool // on the closed opening statement rather than the open one
	Signed      money.Amount
	Balance     money.Amount // after this entry
	Transaction Transaction  // for an opening entry the zero Transaction except On
}

// Period is a statement period of an account. The open one has no last day and
// includes today in the supplier's time zone.
type Period struct {
	FromOn  calendar.Day // zero: from the beginning, on the closed opening statement
	ToOn    calendar.Day // zero: open
	Balance money.Amount // at its end, when closed
}

// Open reports whether transactions can still be added to the period.
func (p Period) Open() bool { return p.ToOn.IsZero() }

// Nearest returns the day inside an open period that is nearest to a day. The
// period always contains today as its last day, even when the last statement was
// closed today or billed in advance: today's payment counts today, and nothing is
// ever moved into the future.
func (p Period) Nearest(day, today calendar.Day) calendar.Day {
	first := p.FromOn
	if first.After(today) {
		first = today
	}
	switch {
	case day.Before(first):
		return first
	case day.After(today):
		return today
	}
	return day
}
