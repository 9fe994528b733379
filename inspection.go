package landfall

import (
	"context"
	"iter"
)

// Finding is something in the database that does not hold.
type Finding struct {
	Key  Key
	What string // a sentence for a person, without personal data
}

// Inspection is what an inspection is doing: how far it is, and the next
// finding, if there is one.
type Inspection struct {
	Processes int      // looked at so far
	Finding   *Finding // nil: nothing was found in these
}

// Inspector checks the consistency of the database.
type Inspector interface {
	// Inspect checks everything that can be checked: documents against their
	// hashes, revisions, ledgers against balances and lengths, counters, states. It
	// streams its progress and what is wrong, reading a batch at a time. Concurrent
	// writes do not cause false findings.
	Inspect(ctx context.Context) iter.Seq2[Inspection, error]
}
