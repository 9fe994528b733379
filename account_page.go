package landfall

import (
	"time"

	"landfall/internal/lib/limits"
)

// AccountPageQuery asks for an account with one page of each long list: the
// newest rows before a position. Zero means the end of the list.
type AccountPageQuery struct {
	Rows             int // of each list, at most
	EntriesBefore    int // a ledger sequence
	NotesBefore      NotePosition
	StatementsBefore int
}

// NotePosition is the place of a note in the order of their times.
type NotePosition struct {
	CreatedAt time.Time
	Index     int // among the notes of the account, counted from 1; 0 is the end of the list
}

// MaxNoteBytes is the size up to which a page includes the body of a note. Read
// the whole account to get a longer one.
const MaxNoteBytes = limits.ConsoleNote

// AccountPage is an account with pages of its long lists, the newest first.
type AccountPage struct {
	Account                         // without notes
	Pinned           []NumberedNote // now or earlier, no more than Rows
	Notes            []NumberedNote
	MoreNotes        bool  // there are older ones
	StatementIndexes []int // of the statements of the page
	LedgerLength     int
	NoteCount        int
	StatementCount   int
	InstructionCount int
}

// ExtraTooLong replaces the fields that packs add to a note or statement on a page
// if they are longer than MaxNoteBytes.
const ExtraTooLong = "{}"

// NumberedNote is a note with its index among the notes of the account.
type NumberedNote struct {
	Note
	Index int
	Bytes int // of the body, which is left out above MaxNoteBytes
}
