package landfall

import (
	"context"
	"iter"
	"time"
)

// Finding is an inconsistency in the database.
type Finding struct {
	Key  Key
	What string // a sentence for a person, without personal data
	Sums bool   // a recount corrects it
}

// Inspection is the progress of an inspection and its next finding, if any.
type Inspection struct {
	Processes int      // checked so far
	Finding   *Finding // nil: nothing was found
}

// InspectionPosition is how far an inspection is. The zero value is the beginning.
type InspectionPosition struct {
	Stage string // what is being checked
	After string // how far that is
}

// InspectionStep is the result of checking a few hundred rows or one part of a
// file.
type InspectionStep struct {
	Next      InspectionPosition
	Processes int // checked in this step
	Findings  []Finding
	Done      bool // nothing is left to check
}

// Inspector checks the consistency of the database.
type Inspector interface {
	// Inspect checks everything that can be checked: documents against their
	// hashes, encrypted values, revisions, ledgers against balances and lengths,
	// counters, states, signed reconciliations, and the files of the database as
	// far as it can check them itself. It streams its progress and what is wrong,
	// reading a batch at a time. Concurrent writes do not cause false findings.
	Inspect(ctx context.Context) iter.Seq2[Inspection, error]

	// InspectStep does one step of an inspection. With an error it returns the
	// position behind what could not be checked, so that the caller can go on.
	InspectStep(ctx context.Context, from InspectionPosition) (InspectionStep, error)
}

// ScrubState is how far a pass over all data is that checks it in the background.
type ScrubState struct {
	Position InspectionPosition
	Findings int       // of this pass so far
	Examples []Finding // the first of them
}

// ScrubStatus is what the servers have checked in the background.
type ScrubStatus struct {
	EndedAt  time.Time // of the last whole pass; zero: never
	Findings int       // of the last whole pass or the current one, whichever has more
	Examples []Finding
}

// ScrubReader reads what was checked in the background.
type ScrubReader interface {
	ScrubStatus(ctx context.Context) (ScrubStatus, error)
}
