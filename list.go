package landfall

import (
	"context"
	"iter"
	"time"
)

// ProcessFilter selects the processes of a list. Skipped processes are only in
// their own list.
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
	After    *ProcessCursor // start after this entry; nil starts at the beginning
	Limit    int            // 0 means all
	Figures  bool           // include the totals of imported accounts
}

// ProcessCursor is a position in a list. Every entry has its own.
type ProcessCursor struct {
	FirstStagedAt time.Time
	External      string
}

// ProcessEntry is one row of a list.
type ProcessEntry struct {
	External         string
	AccountNumber    string    // "" until imported
	AccountCreatedAt time.Time // zero until imported
	FirstStagedAt    time.Time
	Failed           bool                // its last attempt failed
	Figures          *AccountFigures     // nil: not asked for
	Delivery         TargetDeliveryState // the worst of its deliveries, with the figures; "": there are none
}

// Lister reads lists that may be long, a batch at a time: memory does not grow
// with the number of rows, and no transaction stays open for a slow reader. A row
// that exists throughout appears exactly once and in order; one that is removed
// or changed meanwhile appears at most once; what is staged after a list began is
// not in it. An unknown supplier is an empty list: the caller checks who may ask.
type Lister interface {
	// List streams a supplier's processes in the order of first staging, then
	// external number by bytes. When the query asks for it, imported ones come with
	// their AccountFigures.
	List(ctx context.Context, query ProcessQuery) iter.Seq2[ProcessEntry, error]

	// WholeAccounts streams a supplier's created accounts with their records, in
	// the order of the list of imported accounts. Each is consistent in itself.
	WholeAccounts(ctx context.Context, query WholeAccountQuery) iter.Seq2[WholeAccount, error]

	// Failed streams every failed account of a supplier by external number, with its
	// last failed attempt, dry runs included, or its last refused staging, whichever
	// is newer. Skipped accounts are left out. Accounts that exist are in it with the
	// last refusal of each kind of posting.
	Failed(ctx context.Context, query FailureQuery) iter.Seq2[FailedProcess, error]

	// FailureSummary groups what Failed streams by code and attribute. A failure
	// without violations counts by its own code.
	FailureSummary(ctx context.Context, supplier string) (FailureSummary, error)

	// Duplicates streams the pairs of accounts that share an identifier at the same
	// time, of which at least one is of the supplier. Which accounts are compared is
	// described at DuplicateReader.
	Duplicates(ctx context.Context, query DuplicateQuery) iter.Seq2[Duplicate, error]

	// Contributions streams the accounts that make up a figure of a reconciliation:
	// pending and skipped ones in the order of first staging, others by external
	// number. An account that contributes nothing to the measure is left out.
	Contributions(ctx context.Context, query ContributionQuery) iter.Seq2[Contribution, error]
}
