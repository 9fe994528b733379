package landfall

import (
	"context"
	"iter"
	"strconv"
	"time"
)

// SliceSize is how many accounts a slice of a run has: work for a second or two,
// and few enough rows to add up.
const SliceSize = 512

// SliceRequest asks for a part of a run's selection.
type SliceRequest struct {
	Run         string
	Lease       time.Duration
	Concurrency int // accounts the worker would create at once
}

// RunSlice is a part of a run's selection that one worker holds until the lease
// ends by the database's clock. Its token is a fencing token: nothing is written
// for a slice with another token.
type RunSlice struct {
	Run         Run
	Number      int
	Token       string
	Lease       time.Duration
	Concurrency int         // accounts that may be created at once
	Tries       int         // how often it was postponed
	Members     []RunMember // without an outcome yet, in the order of staging
	Quotas      Quotas      // of the organisation the run acts for
}

// RunMember is one account of a run's selection.
type RunMember struct {
	Ordinal int // its index in the selection
	Key     Key
	Bytes   int // stored size of its document
}

// RunCreation is an account of a slice that is ready to be written.
type RunCreation struct {
	Ordinal  int
	Creation Creation
}

// RunFailure is a failed attempt at an account of a slice. Final makes it the
// account's outcome; otherwise the account is tried again later.
type RunFailure struct {
	Ordinal int
	Claim   Claim
	Attempt Attempt
	Final   bool
}

// Settlement is the outcomes of some accounts of a slice.
type Settlement struct {
	Created  []RunCreation
	Failed   []RunFailure
	Refused  []int   // ordinals of accounts that others have created or skipped
	Released []Claim // claims to release without a trace
}

// SettleResult is the answer to a Settlement.
type SettleResult struct {
	Created []CreateOutcome // in the order of the settlement; a member without an account stays open
	Stop    bool            // the run has to stop
}

// RunQuery asks for a supplier's runs, newest first.
type RunQuery struct {
	Supplier string
	After    string // start after this run; "" starts with the newest
	Limit    int
}

// RunFailureQuery asks for the accounts that failed in a run, by external number.
type RunFailureQuery struct {
	Run   string
	After string // start after this external number
	Limit int    // 0 means all
}

// event returns an event about a run.
func (r *Run) event(kind EventType) *Event {
	details := map[string]string{"run": r.ID, "state": string(r.State)}
	if r.Plan.DryRun {
		details["dry_run"] = "true"
	}
	if r.Reason != "" {
		details["reason"] = string(r.Reason)
	}
	for name, count := range map[string]int{
		"selected": r.Tally.Selected, "succeeded": r.Tally.Succeeded, "failed": r.Tally.Failed, "refused": r.Tally.Refused,
	} {
		details[name] = strconv.Itoa(count)
	}
	return &Event{Type: kind, Key: Key{Supplier: r.Plan.Supplier}, Details: details, By: r.ActsFor}
}

// RunQueue hands out the accounts of a run in slices and records their
// outcomes. It writes for a slice only while the caller holds the slice's token
// and its lease is alive, and returns ErrFenced to all other callers.
type RunQueue interface {
	// ChooseRun continues choosing a run's accounts, a bounded number of them, and
	// reports whether all are chosen. The first call decides up to when an account
	// must have been staged. Any number of replicas may choose at once: every
	// account is chosen once, and none that was waiting throughout is left out.
	ChooseRun(ctx context.Context, id string) (done bool, err error)

	// TakeSlice leases the next free slice of a run. ErrNotFound when there is
	// none now: the run is not Running or has to stop, its supplier is not
	// Ongoing, all slices are done, held or postponed, or as many accounts are in
	// progress as the run allows at once.
	TakeSlice(ctx context.Context, request SliceRequest) (RunSlice, error)

	// ClaimSlice claims some members of a slice, as many concurrent Claims would,
	// with the same promises. When a document differs from the one that was staged,
	// the claim is granted without a document.
	ClaimSlice(ctx context.Context, requests []ClaimRequest) ([]ClaimOutcome, error)

	// RenewSlice restarts the leases of a slice and of claims.
	RenewSlice(ctx context.Context, slice RunSlice, claims []Claim) error

	// SettleSlice records the outcomes of some members of a slice: accounts as
	// Create does, failures as Release does, and the totals of the slice, all in
	// one transaction or nothing. It restarts the slice's lease. A member whose
	// claim was lost meanwhile gets no outcome from it. No member ever gets two.
	// ErrRevoked when the run's author may no longer write.
	SettleSlice(ctx context.Context, slice RunSlice, settlement Settlement) (SettleResult, error)

	// ReturnSlice gives a slice back; the rest of it cannot be taken before the
	// pause is over. A slice that the caller does not hold is ignored.
	ReturnSlice(ctx context.Context, slice RunSlice, pause time.Duration) error

	// RunFailures streams the accounts that failed in a run with the failure they
	// had then, by external number.
	// It ends with ErrRunPurged when they were purged.
	RunFailures(ctx context.Context, query RunFailureQuery) iter.Seq2[FailedProcess, error]

	// RunCreated streams the keys of the accounts that a run created and that still
	// exist, in the order of the selection. A dry run created none.
	RunCreated(ctx context.Context, id string) iter.Seq2[Key, error]
}
