package landfall

import (
	"context"
	"time"
)

// Retention is how long a supplier's data is kept; 0 means forever.
type Retention struct {
	// Staged is for documents that are no account's record: superseded ones, after
	// the account was created, and those of accounts that do not exist, after they
	// were last staged, tried or undone.
	Staged   time.Duration
	Failures time.Duration // the texts of failures; their codes, attributes and times stay
	Mails    time.Duration // the recipient of a mail and the mail server's reply, after the mail was settled
	Events   time.Duration // the log of events, as far as every webhook has received them
	Runs     time.Duration // the accounts of a run and their failures, after it ended; the run and its totals stay
}

// Forever reports whether everything is kept forever.
func (r Retention) Forever() bool { return r == Retention{} }

// EffectiveRetention returns the retention of a supplier with what undoing an account
// needs: its document, to create it again, its mails, so that none is sent twice, and
// the list of its run are kept at least as long as it can be undone.
func (s Supplier) EffectiveRetention() Retention {
	r := s.Retention
	if r.Staged > 0 {
		r.Staged = max(r.Staged, s.UndoWindow)
	}
	if r.Mails > 0 {
		r.Mails = max(r.Mails, s.UndoWindow)
	}
	if r.Runs > 0 {
		r.Runs = max(r.Runs, s.UndoWindow)
	}
	return r
}

// PurgeFigures counts what a server has purged since it started.
type PurgeFigures struct {
	Removed PurgeCounts
	Steps   int64
	Took    time.Duration // all steps together
	Longest time.Duration // the longest one
	// Unreadable counts the rows that could not be read, in every purge again.
	Unreadable int64
}

// PurgeRequest asks for one step of a purge.
type PurgeRequest struct {
	Supplier string
	After    PurgeCursor // where the previous step ended; the zero value is the beginning
	DryRun   bool
}

// PurgeCursor is the position of a purge. Only the store knows what its fields
// mean.
type PurgeCursor struct {
	Lane, At, Number int64
	Name             string
}

// PurgeStep is the result of one step.
type PurgeStep struct {
	Removed PurgeCounts // or would be removed by a dry run
	Next    PurgeCursor
	Done    bool // nothing is left
	// Unreadable are rows that could not be read, for example because they are
	// damaged. They are left as they are, and the purge goes on.
	Unreadable []UnreadableRow
}

// UnreadableRow is a row that a purge could not read.
type UnreadableRow struct {
	Key      Key
	Location string // table and column
	FoundAt  time.Time
}

// PurgeCounts counts what was removed.
type PurgeCounts struct {
	Documents, Failures, Mails, Events int
	Runs                               int // whose details were removed
}

// Add adds other counts.
func (c *PurgeCounts) Add(more PurgeCounts) {
	c.Documents += more.Documents
	c.Failures += more.Failures
	c.Mails += more.Mails
	c.Events += more.Events
	c.Runs += more.Runs
}

// DocumentRemoved tells a user that the staged document of an account was purged.
const DocumentRemoved = "The staged document was removed because its retention period has ended. Stage it again."

// Purger removes data that was kept for as long as its retention says.
type Purger interface {
	// Purge examines a few hundred rows of a supplier, starting behind a cursor,
	// and removes what was kept longer than the supplier's retention: staged
	// documents, the texts of failures, the recipients of mails, and the accounts
	// of ended runs. Hashes, revisions, codes, states, times and totals stay, and
	// so does what an account that can still be undone would need. A row that
	// cannot be read is reported and left as it is. Rows that another transaction has locked
	// are left for another time. A dry run removes nothing. ErrNotFound when
	// there is no such supplier.
	Purge(ctx context.Context, request PurgeRequest) (PurgeStep, error)
}

// PurgeReader reads when data was purged.
type PurgeReader interface {
	// PurgeEnded returns when servers last completed a purge of everything; zero
	// when they never did.
	PurgeEnded(ctx context.Context) (time.Time, error)
	// UnreadableRows returns up to limit rows that the last purge of their supplier
	// could not read.
	UnreadableRows(ctx context.Context, limit int) ([]UnreadableRow, error)
}
