package landfall

import (
	"context"
	"time"

	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// WholeAccount is a created account with its record, the document it was created
// from, and what was added to it since.
type WholeAccount struct {
	Key           Key
	Number        string
	CreatedAt     time.Time
	FirstStagedAt time.Time
	Revision      int       // of the record
	Record        []byte    // as it was sent; nil when it was erased
	Fingerprint   string    // of the record; "" if it was not asked for
	ErasedAt      time.Time // zero: it was not
	Currency      string
	Balance       money.Amount
	OpenFromOn    calendar.Day        // the first day of the open statement period
	Delivery      TargetDeliveryState // the worst of its deliveries; "": there are none
	// Lists has the beginning of each list, as much as fits into memory for many
	// accounts at once. Lengths says how long the lists are.
	Lists   AccountLists
	Lengths ListLengths
}

// AccountLists is a part of the lists of an account, in their order.
type AccountLists struct {
	Entries      []LedgerEntry
	Notes        []Note
	Statements   []Statement
	Instructions []Instruction
}

// ListLengths is a number of items of each list of an account.
type ListLengths struct {
	Entries, Notes, Statements, Instructions int
}

// Lengths returns how many items there are of each list.
func (l *AccountLists) Lengths() ListLengths {
	return ListLengths{len(l.Entries), len(l.Notes), len(l.Statements), len(l.Instructions)}
}

// WholeAccountQuery asks for whole accounts in the order of the list of imported
// accounts.
type WholeAccountQuery struct {
	Supplier string
	After    *ProcessCursor // start after this account; nil starts at the beginning
	UpTo     *ProcessCursor // end with this account; nil ends with the last one
	Changed  bool           // only accounts with an event after ChangedAfter
	// ChangedAfter is the id of an event.
	ChangedAfter int64
	// Fingerprint computes the fingerprint of a record, in a goroutine of its own.
	// nil leaves it out.
	Fingerprint func(record []byte) (string, error)
}

// AccountListsQuery asks for a part of the lists of an account: the items after
// some and up to others.
type AccountListsQuery struct {
	Key       Key
	CreatedAt time.Time // of the account; one that was created after an undo is not meant
	After     ListLengths
	UpTo      ListLengths
}

// WholeAccountReader reads whole accounts.
type WholeAccountReader interface {
	// WholeAccount returns one account, or ErrNotFound. A record that differs from
	// what was staged is an error.
	WholeAccount(ctx context.Context, key Key) (WholeAccount, error)
	// WholeAccountPage returns where a page of limit accounts ends, or nil when
	// there are no accounts after it.
	WholeAccountPage(ctx context.Context, query WholeAccountQuery, limit int) (*ProcessCursor, error)
	// AccountLists returns the next items of each list, as many as fit into memory
	// and at least one unless there are none, or ErrNotFound when the account no
	// longer exists.
	AccountLists(ctx context.Context, query AccountListsQuery) (AccountLists, error)
}
