package landfall

import (
	"time"

	"landfall/internal/lib/money"
)

// Posting adds notes, transactions, statements or a payment instruction to an
// existing account. The store locks the account and loads what the posting asks
// for. Decide, which belongs to the service, returns what to add, and the store
// writes that in the same transaction.
//
// This way the rules about duplicates and periods are written once, outside the
// database, and still hold when postings race.
type Posting struct {
	Key  Key
	Kind PostingKind
	By   Author

	// What Decide needs.
	Notes          []Note   // the notes with the fingerprint of one of these
	TransactionIDs []string // the ledger entries with these transaction ids
	StatementIDs   []string
	Instructions   []Instruction // by vendor and reference
	Unique         []Identifier  // the accounts that exist and have one of these

	// Decide may run more than once and must have no side effects. When it returns
	// an error, nothing is written and the posting ends with that error.
	Decide func(AccountState) (Additions, error)
}

// AccountState is the state of an account while it is locked.
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
	Conflicts     []Conflict // about the unique identifiers
}

// Additions is what a posting adds. Either all of it is written or nothing.
type Additions struct {
	Notes        []Note
	Entries      []LedgerEntry
	Statements   []Statement
	Instructions []Instruction
	Event        *Event // nil when nothing changed
	Undecided    bool   // nothing was accepted yet: an earlier refusal stays on record
	OwnNotes     int    // how many of the notes the service wrote itself
}

// PostVerdict is the result of a Posting.
type PostVerdict uint8

// The verdicts. Only Posted has run Decide.
const (
	Posted         PostVerdict = iota + 1
	PostNoAccount              // nothing is imported under the key
	PostNoSupplier             // the supplier is Paused, or does not exist
)

// PostOutcome is the answer to one Posting.
type PostOutcome struct {
	Verdict       PostVerdict
	AccountNumber string
}
