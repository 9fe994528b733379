package landfall

import "time"

// Key names an account in the other supplier's world: the pair that identifies
// it everywhere. Both parts are compared byte by byte.
type Key struct {
	Supplier string // import supplier code
	External string // external account number
}

// ProcessState is where an account import process stands.
type ProcessState string

// The states. A claim whose lease has ended reads as Staged again.
const (
	Staged   ProcessState = "staged"
	Claimed  ProcessState = "claimed"
	Imported ProcessState = "imported"
	Skipped  ProcessState = "skipped"
)

// Process is an account import process: everything known about the way of one
// external account onto the platform.
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
	Failure          *Failure  // of the last attempt, when it failed
	ErasedAt         time.Time // when what is personal was erased; zero: it was not
}

// Failure is why an account does not get on: its last attempt failed, or its
// data was refused.
type Failure struct {
	At         time.Time
	Code       string
	Detail     string
	Violations []Violation
	DryRun     bool
	AtStaging  bool // it was not even staged
}

// Staging is one account document as the supplier sent it, ready to be kept.
type Staging struct {
	Key      Key
	Document []byte // the accepted JSON, its spelling kept
	Hash     [32]byte
	By       Author
	Figures  Figures // what the document comes to
	ValidJSON    bool    // whoever hands it in has read it, and it is JSON
}

// StageVerdict says what became of a Staging.
type StageVerdict uint8

// The verdicts. The refusals leave everything as it was.
const (
	StagedFirst     StageVerdict = iota + 1 // a new process
	StagedAgain                             // a known process; a new revision when the content differs
	RefusedImported                         // an account exists
	RefusedSkipped                          // the operator marked it
	RefusedClaimed                          // somebody is creating the account right now
	RefusedSupplier                         // the supplier is not Ongoing, or gone
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
	LeaseLeft          time.Duration // of the lease that is in the way, with RefusedClaimed
}

// StagedRevision is one entry of a process's staging history.
type StagedRevision struct {
	Revision int
	Hash     [32]byte
	StagedAt time.Time
	Document []byte    // nil once it is gone
	RemovedAt   time.Time // when it went; zero: it is there
	By       Author
}

// Erasure is what was erased of an account.
type Erasure struct {
	Revisions     int       // of staged documents
	AccountNumber string    // "" when it was never created
	PreviousAt        time.Time // when it had been erased before; zero: never
}

// ProcessFilter chooses what a list shows. Skipped processes are in no list
// but their own.
type ProcessFilter uint8

// The filters.
const (
	AllProcesses      ProcessFilter = iota // pending and imported
	PendingProcesses                       // staged or claimed
	ImportedProcesses                      // with an account
	SkippedProcesses                       // for the operator
)

// ProcessQuery asks for a list in the order of first staging, then number.
type ProcessQuery struct {
	Supplier string
	Filter   ProcessFilter
	After    *ProcessCursor // start behind this entry; nil starts at the beginning
	Limit    int            // 0 means all
	Figures  bool           // of imported ones, also what their accounts come to
}

// ProcessCursor is a place in a list: every entry has exactly one.
type ProcessCursor struct {
	FirstStagedAt time.Time
	External      string
}

// ProcessEntry is one line of a list.
type ProcessEntry struct {
	External         string
	AccountNumber    string    // "" until imported
	AccountCreatedAt time.Time // zero until imported
	FirstStagedAt    time.Time
	Figures          *AccountFigures // nil: not asked for
}
