package landfall

import (
	"strconv"
	"time"
)

// SliceSize is how many accounts of a run are given to a worker at a time: work
// for less than a second or two, and few enough rows to add up.
const SliceSize = 512

// SliceRequest asks for a part of a run's selection.
type SliceRequest struct {
	Run   string
	Lease time.Duration
	Concurrency int // accounts the worker would have under way at once
}

// RunSlice is a part of a run's selection that one worker has to himself until
// the lease ends by the database's clock. The token fences: nothing is written
// for a slice whose token is no longer its own.
type RunSlice struct {
	Run     Run
	Number  int
	Token   string
	Lease   time.Duration
	Concurrency   int         // accounts that may be under way at once
	Tries   int         // how often it was left for later
	Members []RunMember // that have no outcome yet, in the order they were staged
	Quotas  Quotas      // of the organisation the run acts for
}

// RunMember is one account of a run's selection.
type RunMember struct {
	Ordinal int // its place in the selection, from 0
	Key     Key
	Bytes   int // of its document as it is kept, which says what it takes to read it
}

// RunCreation is an account of a slice that is ready to be written.
type RunCreation struct {
	Ordinal  int
	Creation Creation
}

// RunFailure is an attempt at an account of a slice that failed. Final says
// that it is the account's outcome; else it is tried again later.
type RunFailure struct {
	Ordinal int
	Claim   Claim
	Attempt Attempt
	Final   bool
}

// Settlement is what became of some accounts of a slice.
type Settlement struct {
	Created []RunCreation
	Failed  []RunFailure
	Refused []int   // ordinals of those that others have taken or skipped
	Released   []Claim // to be given back as if they had never been
}

// SettleResult is the answer to a Settlement.
type SettleResult struct {
	Created []CreateOutcome // in the order of the settlement; without an account the member stays open
	Stop    bool            // the run has to stop: nothing more may be begun
}

// RunQuery asks for a supplier's runs, newest first.
type RunQuery struct {
	Supplier string
	After    string // start behind this run; "" starts with the newest
	Limit    int
}

// RunFailureQuery asks for the accounts that failed in a run, by external number.
type RunFailureQuery struct {
	Run   string
	After string // start behind this external number
	Limit int    // 0 means all
}

// event tells something about a run to the outside world.
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
