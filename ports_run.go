package landfall

import (
	"context"
	"iter"
	"time"
)

// RunReader reads runs.
type RunReader interface {
	// Run gives one by its id, or ErrNotFound.
	Run(ctx context.Context, id string) (Run, error)
	// Runs gives a supplier's, newest first. An unknown supplier has none, nor
	// is there anything behind an unknown run.
	Runs(ctx context.Context, query RunQuery) ([]Run, error)
	// LastRuns gives the newest of every supplier that has any.
	LastRuns(ctx context.Context) ([]Run, error)
	// LiveRuns gives all that have not ended, the oldest first.
	LiveRuns(ctx context.Context) ([]Run, error)
	// RunIsDone reports whether every account of a run has its outcome.
	RunIsDone(ctx context.Context, id string) (bool, error)
	// RunSamples gives how far a run was over time since an instant, the oldest
	// first.
	RunSamples(ctx context.Context, id string, since time.Time) ([]RunSample, error)
}

// RunWriter changes runs. A transaction that reads a run by its id holds it:
// nobody can begin with a part of it until the transaction has ended.
type RunWriter interface {
	// CreateRun keeps a new run with its author and gives it as it is kept, or
	// ErrExists with the live run of its supplier. Of many at once exactly one
	// is kept. ErrNotFound when there is no such supplier.
	CreateRun(ctx context.Context, run Run) (Run, error)
	// SaveRun keeps what a run's own methods changed, and counts the time it
	// has been running.
	SaveRun(ctx context.Context, run Run) error
	// RunIdle waits for whoever is writing for a run, and reports whether
	// nobody holds a part of it.
	RunIdle(ctx context.Context, id string) (bool, error)
	// SampleRuns notes of every live run that has begun how far it is, unless
	// that was noted within a time. Samples of runs that ended long ago go.
	SampleRuns(ctx context.Context, every time.Duration) error
}

// RunQueue takes runs forward. What it writes for a slice it writes only for
// the holder of the slice's token while its lease lives, and answers ErrFenced
// to everybody else.
type RunQueue interface {
	// ChooseRun goes on choosing a run's accounts, a bounded number of them, and
	// reports whether all are chosen. The first call decides up to when an
	// account must have been staged. Any number of replicas may choose at once:
	// every account is chosen once and none is left out that was waiting
	// throughout.
	ChooseRun(ctx context.Context, id string) (done bool, err error)

	// TakeSlice gives the next part of a run that nobody holds, for a lease.
	// ErrNotFound when there is none now: the run is not Running or has to
	// stop, its supplier is not Ongoing, all parts are done, held or left for
	// later, or as many accounts are under way as the run may have at once.
	TakeSlice(ctx context.Context, request SliceRequest) (RunSlice, error)

	// ClaimSlice asks for claims of some members of a slice, as many Claims at
	// once would, and with the same promises. An outcome whose document is not
	// the one that was staged is granted without a document.
	ClaimSlice(ctx context.Context, requests []ClaimRequest) ([]ClaimOutcome, error)

	// RenewSlice starts the leases of a slice and of claims anew.
	RenewSlice(ctx context.Context, slice RunSlice, claims []Claim) error

	// SettleSlice writes what became of some members of a slice: accounts as
	// Create does, failures as Release does, their outcomes, and the sums of the
	// slice, all in one transaction or nothing, and starts the slice's lease
	// anew. A member whose claim was lost meanwhile has no outcome by it. No
	// member ever has two. ErrRevoked when the run's author may write no more.
	SettleSlice(ctx context.Context, slice RunSlice, settlement Settlement) (SettleResult, error)

	// ReturnSlice gives a slice back; what is left of it is not to be taken
	// before a pause is over. One that was never its holder's is no trouble.
	ReturnSlice(ctx context.Context, slice RunSlice, pause time.Duration) error

	// RunFailures streams the accounts that failed in a run with the failure
	// they had then, by external number.
	RunFailures(ctx context.Context, query RunFailureQuery) iter.Seq2[FailedProcess, error]

	// RunCreated streams the keys of the accounts that a run created and that
	// still exist, in the order of the selection. A dry run created none.
	RunCreated(ctx context.Context, id string) iter.Seq2[Key, error]
}
