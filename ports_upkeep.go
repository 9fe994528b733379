package landfall

import (
	"context"
	"iter"
)

// Inspector looks for what does not hold.
type Inspector interface {
	// Inspect checks everything that can be checked: documents against their
	// hashes, revisions, ledgers against balances and lengths, counters,
	// states. It streams what does not hold, and how far it is, reading a batch
	// at a time; what happens meanwhile confuses it not.
	Inspect(ctx context.Context) iter.Seq2[Inspection, error]
}

// Purger takes away what was kept long enough.
type Purger interface {
	// Purge looks at some hundred rows of a supplier, behind a place, and takes
	// away what was kept for longer than the supplier's settings say: staged
	// documents, the words of failures, and whom mails went to. Hashes, revisions,
	// codes, states and times stay. What an account that can still be taken back
	// would need stays as well. What somebody else holds at the moment is left for
	// another time. A dry run takes nothing away. ErrNotFound: no such supplier.
	Purge(ctx context.Context, order PurgeRequest) (PurgeStep, error)
}

// Rekeyer seals what is personal with the key that seals today, where it was
// sealed with another one or not at all.
type Rekeyer interface {
	// Rekey looks at some hundred rows and seals of them what is to be. What
	// changes meanwhile is left alone, and looked at again in another round; what
	// was interrupted goes on where it was. When a whole round finds nothing left,
	// the other keys are forgotten. ErrNotFound: there are no keys.
	Rekey(ctx context.Context) (RekeyStep, error)

	// Encryption says with which keys something is sealed.
	Encryption(ctx context.Context) (Encryption, error)
}
