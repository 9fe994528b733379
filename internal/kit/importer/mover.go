// Package mover moves a book onto a server and keeps a journal of how far it
// is, so that an import that was cut off anywhere goes on where it was.
//
// The order is: stage the accounts in bulk; let the server create them in a run
// and watch it; add notes, transactions, statements and payment instructions to
// the accounts that exist; set the control totals; report. Every step may be
// done again without harm: the journal only spares the time.
package importer

import (
	"context"

	"landfall/client"
	"landfall/internal/kit/book"
)

// Options says what is to be moved, and how.
type Options struct {
	Book     *book.Book
	Folder   string // where the journal and the report are kept
	Supplier string // import supplier of the run; "" takes the one the book names
	Team     string // looks after the created accounts

	DryRun     bool // create nothing: rehearse
	Sample     int  // only every Nth account; 0 means all
	OnlyFailed bool // create only those whose last attempt failed
	StageOnly  bool // leave the creation to somebody else
	Restart    bool // forget how far an earlier attempt was
	Watched    bool // somebody looks at it, and wants to know how long it will take
}

// Phase is a step of an import, in the order of the steps.
type Phase string

// The phases. Those that send lines have the name of their files.
const (
	PhaseRun    Phase = "run"
	PhaseTotals Phase = "control totals"
)

// phaseOf names a phase after its file, so that journal, report and book use one word.
func phaseOf(kind book.Kind) Phase { return Phase(kind.Stem) }

// Tally is what became of the lines of one kind, or of the accounts of the run.
// Its parts add up to the number of lines.
type Tally struct {
	Lines      int `json:"lines"`
	Done       int `json:"done"`
	Existing   int `json:"already_there"`
	Failed     int `json:"failed"`
	NotReached int `json:"not_reached"`
}

// Watcher hears how an import gets on. Its methods are called by one goroutine.
type Watcher interface {
	// Begin tells that a phase begins or goes on; whole is 0 when nobody knows.
	Begin(phase Phase, whole int)
	// Progress tells how much of it is done and how often it failed.
	Progress(phase Phase, done, failed int)
	// Failure tells of a kind of failure that was seen, and how often by now.
	Failure(code, attr string, count int)
	// End tells that a phase is over.
	End(phase Phase)
	// Notice tells something worth knowing, such as a server that is away.
	Notice(sentence string)
}

// Importer carries out an order.
type Importer struct {
	client        *client.Client
	options       Options
	watcher       Watcher
	journal       *importJournal
	failureCounts map[[2]string]int // failures by code and place, for the watcher
	failed        accountSet
	serverSeen    bool // the server has answered
}

// New prepares an import. The folder is locked until Close: two imports of one
// book would only be in each other's way.
func New(server *client.Client, order Options, watcher Watcher) (*Importer, error) {
	journal, err := openJournal(order)
	if err != nil {
		return nil, err
	}
	m := &Importer{client: server, options: order, watcher: watcher, journal: journal, failureCounts: map[[2]string]int{}, failed: accountSet{}}
	// What failed before counts again, and its notes are not sent either.
	return m, journal.failures.each(0, func(one failure, _ int64) error {
		m.countFailure(one)
		return nil
	})
}

// Close lets others import the book.
func (m *Importer) Close() error { return m.journal.close() }

// Run does what the order says, from wherever an earlier attempt got to, and
// says what came of it. An error means that it did not get to the end; the
// journal keeps how far it was.
func (m *Importer) Run(ctx context.Context) (Result, error) {
	if err := m.sendKind(ctx, book.Accounts); err != nil {
		return Result{}, err
	}
	// Neither staging alone nor a rehearsal creates accounts, so that there is
	// nothing yet that notes and the like could be added to.
	if m.options.StageOnly {
		return m.result()
	}
	if err := m.createAccounts(ctx); err != nil {
		return Result{}, err
	}
	if m.options.DryRun {
		return m.result()
	}
	for _, kind := range book.Kinds()[1:] {
		if err := m.sendKind(ctx, kind); err != nil {
			return Result{}, err
		}
	}
	if err := m.setTotals(ctx); err != nil {
		return Result{}, err
	}
	return m.result()
}
