package landfall

import (
	"context"
	"iter"
)

// Finding is an inconsistency in the database.
type Finding struct {
	Key  Key
	What string // a sentence for a person, without personal data
}

// Inspection is the progress of an inspection and its next finding, if any.
type Inspection struct {
	Processes int      // checked so far
	Finding   *Finding // nil: nothing was found
}

// Inspector checks the consistency of the database.
type Inspector interface {
	// Inspect checks everything that can be checked: documents against their
	// hashes, revisions, ledgers against balances and lengths, counters, states. It
	// streams its progress and what is wrong, reading a batch at a time. Concurrent
	// writes do not cause false findings.
	Inspect(ctx context.Context) iter.Seq2[Inspection, error]
}
