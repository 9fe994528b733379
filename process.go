package landfall

import (
	"cmp"
	"context"
	"time"
)

// Key identifies an account at the other supplier. Both parts are compared byte by
// byte.
type Key struct {
	Supplier string // import supplier code
	External string // external account number
}

// Compare orders keys by supplier, then by external number.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.Supplier, other.Supplier), cmp.Compare(k.External, other.External))
}

// ProcessState is the state of an account import process.
type ProcessState string

// The states. A claim whose lease has ended reads as Staged again.
const (
	Staged   ProcessState = "staged"
	Claimed  ProcessState = "claimed"
	Imported ProcessState = "imported"
	Skipped  ProcessState = "skipped"
)

// Process is an account import process: everything known about the import of one
// external account.
type Process struct {
	Key              Key
	State            ProcessState
	Revision         int // of the staged document, counted from 1
	ContentHash      [32]byte
	FirstStagedAt    time.Time
	StagedAt         time.Time // of the current revision
	AccountNumber    string    // "" until imported
	AccountCreatedAt time.Time // zero until imported
	SkipReason       string    // why the operator marked it, when Skipped
	Failure          *Failure  // of the last attempt, if it failed
	ErasedAt         time.Time // when personal data was erased; zero: it was not
}

// Failure is why an account could not be imported: its last attempt failed, or its
// data was refused.
type Failure struct {
	At         time.Time
	Code       string
	Detail     string
	Violations []Violation
	DryRun     bool
	AtStaging  bool        // the staging was refused
	Posting    PostingKind // the posting that was refused; "": none
}

// Staging is one account document as the supplier sent it, ready to be stored.
type Staging struct {
	Key       Key
	Document  []byte // the accepted JSON, unchanged
	Hash      [32]byte
	By        Author
	Figures   Figures // the totals of the document
	ValidJSON bool    // the caller has parsed it, and it is valid JSON
	// Identifiers are those of the document. One that is unique refuses the staging
	// when another account has it.
	Identifiers []Identifier
}

// StageVerdict is the result of a Staging.
type StageVerdict uint8

// The verdicts. The refusals leave everything as it was.
const (
	StagedFirst      StageVerdict = iota + 1 // a new process
	StagedAgain                              // a known process; a new revision when the content differs
	RefusedImported                          // an account exists
	RefusedSkipped                           // the operator marked it
	RefusedClaimed                           // the account is being created right now
	RefusedSupplier                          // the supplier is not Ongoing, or does not exist
	RefusedDuplicate                         // another account has one of the unique identifiers
)

// StageResult is the answer to one Staging of many.
type StageResult struct {
	StageOutcome
	Err error
}

// StageOutcome is the answer to one Staging.
type StageOutcome struct {
	Verdict       StageVerdict
	Revision      int
	AccountNumber string        // with RefusedImported
	SameDocument  bool          // with RefusedImported: the account was created from these very bytes
	Differed      bool          // with RefusedImported: an earlier delivery differed, and that is still on record
	LeaseLeft     time.Duration // of the claim, with RefusedClaimed
	Conflicts     []Conflict    // with RefusedDuplicate
}

// StagedRevision is one entry of a process's staging history.
type StagedRevision struct {
	Revision  int
	Hash      [32]byte
	StagedAt  time.Time
	Document  []byte    // nil once it was removed
	RemovedAt time.Time // zero: it was not removed
	By        Author
}

// Erasure is the result of erasing an account.
type Erasure struct {
	Revisions     int       // of staged documents
	AccountNumber string    // "" when it was never created
	PreviousAt    time.Time // when it was erased before; zero: never
}

// HistoryQuery asks for what happened to a process, the newest first.
type HistoryQuery struct {
	Key    Key
	Before time.Time // zero: until now
	Limit  int       // of each kind
}

// History is what happened to a process. Revisions have no documents.
type History struct {
	Revisions []StagedRevision
	Events    []Event
	Audit     []AuditEntry
}

// ProcessReader reads account import processes.
type ProcessReader interface {
	// Process returns one by its key, or ErrNotFound. A claim whose lease has ended
	// by the database's clock reads as Staged.
	Process(ctx context.Context, key Key) (Process, error)
	// Revisions returns the staging history, oldest first, documents included. A
	// document that differs from the one that was staged is an error; one that was
	// removed is not.
	Revisions(ctx context.Context, key Key) ([]StagedRevision, error)
	// Revision returns one staging with its document, unless that was removed, or
	// ErrNotFound. A document that differs from the one that was staged is an error.
	Revision(ctx context.Context, key Key, revision int) (StagedRevision, error)
	// StagingRefusal returns why the last staging of an account was refused, while
	// nothing was staged since, or ErrNotFound.
	StagingRefusal(ctx context.Context, key Key) (Refusal, error)
	// RefusedPostings returns why postings to an account were refused: the last
	// refusal of each kind, while no posting of the kind was accepted since. The kind
	// PostingAccount is the last delivery of the account that differed.
	RefusedPostings(ctx context.Context, key Key) ([]Failure, error)
	// History returns what happened to a process before an instant, the newest of
	// each kind first.
	History(ctx context.Context, query HistoryQuery) (History, error)
}

// ProcessWriter changes account import processes.
type ProcessWriter interface {
	// Skip marks an account so that it is no longer staged or created. An account
	// that was never staged can be marked too: its process then has revision 0.
	// ErrNotFound when there is no such supplier. When the process is Imported,
	// Claimed or already Skipped, nothing changes and Skip returns its state with
	// ErrExists.
	Skip(ctx context.Context, key Key, reason string) (ProcessState, error)
	// Unskip removes the mark; ErrNotFound when there is none. A process that was
	// never staged is deleted with it.
	Unskip(ctx context.Context, key Key) error
	// FreeClaim ends the claim on an account that is being created; ErrNotFound
	// when there is none. What the holder writes afterwards is refused with
	// ErrFenced.
	FreeClaim(ctx context.Context, key Key) error
	// Erase deletes the personal data of an account for good: staged documents,
	// people, addresses, free text, mails and search terms. Its numbers, its ledger
	// and the fact that it existed stay. An account that was never created is marked
	// as skipped, so that it does not come back. Erasing again deletes what was
	// added since. For an account that was only ever refused, the refusal is deleted.
	// ErrNotFound when nothing is known of it; ErrExists while it is being created.
	Erase(ctx context.Context, key Key) (Erasure, error)
}
