package landfall

import (
	"time"

	"landfall/internal/lib/money"
)

// Posting adds something to an existing account: notes, transactions,
// statements, a payment instruction. The store locks the account and loads what
// the posting asks for; Decide, which belongs to the use case, looks at it and
// says what to add; the store writes that in the same transaction.
//
// This way the rules about duplicates and periods are written once, outside the
// database, and still hold under any race.
type Posting struct {
	Key Key
	By  Author

	// What Decide needs to see.
	Notes          []Note   // the notes with the fingerprint of one of these
	TransactionIDs []string // the ledger entries with these transaction ids
	StatementIDs   []string
	Instructions   []Instruction // by vendor and reference

	// Decide may run more than once and must have no effect of its own. An
	// error ends the posting with that error and writes nothing.
	Decide func(AccountState) (Additions, error)
}

// AccountState is what is known about an account while it is locked.
type AccountState struct {
	AccountNumber string
	Now           time.Time // by the database's clock
	Period        Period    // the open one
	Balance       money.Amount
	LastSequence  int // of the ledger
	Notes         []Note
	Entries       []LedgerEntry
	Statements    []Statement
	Instructions  []Instruction
}

// Additions is what a posting adds. All of it is written, or none.
type Additions struct {
	Notes        []Note
	Entries      []LedgerEntry
	Statements   []Statement
	Instructions []Instruction
	Event        *Event // nil when nothing changed
	OwnNotes     int    // how many of the notes are the service's own: nobody sent them
}

// PostVerdict says what became of a Posting.
type PostVerdict uint8

// The verdicts. Only Posted has run Decide.
const (
	Posted         PostVerdict = iota + 1
	PostNoAccount              // nothing is imported under the key
	PostNoSupplier             // the supplier is Paused, or gone
)

// PostOutcome is the answer to one Posting.
type PostOutcome struct {
	Verdict       PostVerdict
	AccountNumber string
}
