package landfall

// AccountPageQuery asks for an account a page at a time: of each long list the newest
// rows, before some place. Zero is the end of the list.
type AccountPageQuery struct {
	Rows             int // of each list, at most
	EntriesBefore    int // a sequence
	NotesBefore      int // a place, counted from 1
	StatementsBefore int
}

// MaxNoteBytes is how many bytes of a note an excerpt has. A longer one has no
// body there: only whoever asks for the whole account gets it.
const MaxNoteBytes = 64 << 10

// AccountPage is an account with pages of its long lists, the newest first.
type AccountPage struct {
	Account                         // without notes
	Pinned           []NumberedNote // now or once, no more than Rows
	Notes            []NumberedNote
	StatementIndexes []int // of the statements of the page
	LedgerLength     int
	NoteCount        int
	StatementCount   int
	InstructionCount int
}

// NumberedNote is a note with its place among those of the account.
type NumberedNote struct {
	Note
	Index int
	Bytes int // of the body, which is left out where there are too many
}
