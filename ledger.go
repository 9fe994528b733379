package landfall

import (
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// EntryKind says what a ledger entry stands for.
type EntryKind string

// The kinds of entry.
const (
	OpeningEntry     EntryKind = "opening"     // a balance no transaction explains
	TransactionEntry EntryKind = "transaction" // one financial transaction
)

// LedgerEntry is one signed movement of an account's balance. The balance of an
// account is always the sum of its entries, and each entry says what the sum
// was after it.
type LedgerEntry struct {
	Sequence    int // counted from 1 within the account
	Kind        EntryKind
	Closed      bool // on the closed opening statement rather than the open one
	Signed      money.Amount
	Balance     money.Amount // after this entry
	Transaction Transaction  // the zero Transaction for an opening entry, but for On
}

// Period is a statement period of an account. The open one has no last day: it
// runs through today in the supplier's zone.
type Period struct {
	FromOn  calendar.Day // zero: since ever, on the closed opening statement
	ToOn    calendar.Day // zero: open
	Balance money.Amount // at its end, when closed
}

// Open reports whether transactions can still go onto the period.
func (p Period) Open() bool { return p.ToOn.IsZero() }

// Nearest gives the day inside an open period that is nearest to a day. The
// period always contains today, which is its last day: books that were closed
// today, or billed in advance, take today's payment today, and nothing is ever
// moved into the future.
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
