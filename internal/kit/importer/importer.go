// Package importer imports a book into a server and keeps a journal, so that an interrupted import
// can continue.
//
// It stages the accounts in bulk, starts a run and watches it, adds notes, transactions, statements
// and payment instructions to the created accounts, sets the control totals, and writes a report.
// Every step can be repeated safely; the journal only saves time.
package importer

import (
	"context"

	"landfall/client"
	"landfall/internal/kit/book"
)

// Options says what to import, and how.
type Options struct {
	Book     *book.Book
	Folder   string // folder of the journal and the report
	Supplier string // import supplier of the run; "" means those named in the book
	Team     string // operations team of the created accounts
	Program  string // name and version of this program, for the report

	DryRun     bool // create nothing
	Sample     int  // only every Nth account; 0 means all
	OnlyFailed bool // create only accounts whose last attempt failed
	StageOnly  bool // do not create accounts
	AllStaged  bool // create everything that the suppliers have staged, not only this book
	Restart    bool // ignore the journal of an earlier import
	Watched    bool // someone watches, so count the lines first
}

// Phase is a step of an import.
type Phase string

// The phases. Those that send lines are named like their files.
const (
	PhaseRun    Phase = "run"
	PhaseTotals Phase = "control totals"
)

// phaseOf names a phase after its file.
func phaseOf(kind book.Kind) Phase { return Phase(kind.Stem) }

// Tally counts the lines of one kind, or the accounts of the run. Its parts add up to Lines.
type Tally struct {
	Lines      int `json:"lines"`
	Done       int `json:"done"`
	Existing   int `json:"already_there"`
	Differs    int `json:"differs"` // accounts that exist and differ from the book
	Failed     int `json:"failed"`
	NotReached int `json:"not_reached"`
}

// Watcher observes an import. Its methods are called by one goroutine.
type Watcher interface {
	// Begin is called when a phase begins or continues; whole is 0 if unknown.
	Begin(phase Phase, whole int)
	// Progress is called with what is done and how much of it failed.
	Progress(phase Phase, done, failed int)
	// Failure is called for every failure with its count so far.
	Failure(code, attr string, count int)
	// End is called when a phase is over.
	End(phase Phase)
	// Notice is called with messages, such as about an unreachable server.
	Notice(sentence string)
}

// Importer imports one book.
type Importer struct {
	client        *client.Client
	options       Options
	watcher       Watcher
	journal       *importJournal
	failureCounts map[[2]string]int // failures by code and attr, for the watcher
	failed        accountSet
	failedOf      map[string]int // number of them by supplier
	serverSeen    bool           // the server has responded
}

// New prepares an import. The folder is locked until Close.
func New(server *client.Client, order Options, watcher Watcher) (*Importer, error) {
	opened, err := openJournal(order)
	if err != nil {
		return nil, err
	}
	m := &Importer{client: server.WithDelivery(opened.state.Delivery), options: order, watcher: watcher, journal: opened, failureCounts: map[[2]string]int{}, failed: accountSet{}, failedOf: map[string]int{}}
	// Earlier failures count again, and their postings are not sent either.
	return m, opened.failures.each(0, func(one failure, _ int64) error {
		m.countFailure(one)
		return nil
	})
}

// Close unlocks the book.
func (m *Importer) Close() error { return m.journal.close() }

// Run imports the book, continuing an earlier attempt, and returns the result. After an error the
// journal has the progress.
func (m *Importer) Run(ctx context.Context) (Result, error) {
	if err := m.reachServer(ctx); err != nil {
		return Result{}, err
	}
	if err := m.sendKind(ctx, book.Accounts); err != nil {
		return Result{}, err
	}
	// Without created accounts there is nothing to add notes and the like to.
	if m.options.StageOnly {
		return m.result(ctx)
	}
	if err := m.createAccounts(ctx); err != nil {
		return Result{}, err
	}
	if m.options.DryRun {
		return m.result(ctx)
	}
	for _, kind := range book.Kinds()[1:] {
		if err := m.sendKind(ctx, kind); err != nil {
			return Result{}, err
		}
	}
	if err := m.setTotals(ctx); err != nil {
		return Result{}, err
	}
	return m.result(ctx)
}
