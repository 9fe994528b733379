package landfall

import (
	"context"
	"reflect"
	"strconv"
	"strings"
	"time"

	"landfall/internal/lib/limits"
)

// RunState is the state of a run, as on the wire.
type RunState string

// The states. The last two are final; the others are those of a live run. A
// supplier has at most one live run.
const (
	RunWaiting   RunState = "WAITING"   // for its start time, or until its accounts are chosen
	RunRunning   RunState = "RUNNING"   // accounts are being created
	RunPaused    RunState = "PAUSED"    // Reason says why
	RunFinished  RunState = "FINISHED"  // every chosen account has an outcome
	RunCancelled RunState = "CANCELLED" // ended early on request
)

// RunStates lists the states in the order a run goes through them.
var RunStates = []RunState{RunWaiting, RunRunning, RunPaused, RunFinished, RunCancelled}

// Ended reports whether a state is final.
func (s RunState) Ended() bool { return s == RunFinished || s == RunCancelled }

// RunSelection is which of a supplier's staged accounts a run creates.
type RunSelection string

// The selections. Skipped and imported accounts are in none.
const (
	SelectPending RunSelection = "pending" // every staged account
	SelectFailed  RunSelection = "failed"  // those whose last attempt failed
	SelectUntried RunSelection = "untried" // those without a failure on record
)

// RunSelections lists the selections, the usual one first.
var RunSelections = []RunSelection{SelectPending, SelectFailed, SelectUntried}

// RunPlan is what a run is asked to do.
type RunPlan struct {
	Supplier string // import supplier code
	Team     string
	DryRun   bool
	Select   RunSelection
	// The next three narrow the selection further.
	Delivery     string   // only accounts staged by it; "" means by any
	Codes        []string // only accounts that last failed with one of these codes; none means all
	Accounts     []string // only these external account numbers; none means all. A stored run does not return them
	AccountCount int      // how many Accounts were listed; set by the store
	Sample       int      // every Nth account of the selection; 0 means all
	Limit        int      // at most this many accounts; 0 means all
	Concurrency  int      // accounts created at once, over all replicas; 0 lets the service decide
	NotBefore    time.Time
	NotAfter     time.Time
}

// Narrowed reports whether the plan has more conditions than its Select.
func (p *RunPlan) Narrowed() bool {
	return p.Delivery != "" || len(p.Codes) > 0 || len(p.Accounts)+p.AccountCount > 0
}

// SelectionText describes the selection for the audit.
func (p *RunPlan) SelectionText() string {
	text := "select=" + string(p.Select)
	if p.Delivery != "" {
		text += ", delivery=" + p.Delivery
	}
	if p.AccountCount > 0 {
		text += ", accounts=" + strconv.Itoa(p.AccountCount)
	}
	if len(p.Codes) > 0 {
		text += ", codes=" + strings.Join(p.Codes, "+")
	}
	return text
}

// MaxDelivery is the length of the longest id of a delivery.
const MaxDelivery = 64

// ValidDelivery reports whether a text can be the id of a delivery: up to 64
// letters, digits and . _ -.
func ValidDelivery(id string) bool {
	if id == "" || len(id) > MaxDelivery {
		return false
	}
	for _, b := range []byte(id) {
		if (b < 'a' || b > 'z') && (b < 'A' || b > 'Z') && (b < '0' || b > '9') && b != '.' && b != '_' && b != '-' {
			return false
		}
	}
	return true
}

// PauseReason is why a run is paused or about to be.
type PauseReason string

// The reasons. The comments say which of them end by themselves; all others end
// when the run is resumed.
const (
	PauseRequested        PauseReason = "pause_asked"              // requested by a caller or operator
	PauseSupplierPaused   PauseReason = "import_supplier_paused"   // ends when the supplier is Ongoing again
	PauseSupplierComplete PauseReason = "import_supplier_complete" // likewise
	PauseKeyNotValid      PauseReason = "key_not_valid"            // the key was revoked or has expired, or its organisation is disabled
	PauseNotGranted       PauseReason = "import_supplier_not_granted"
	PauseWindowOver       PauseReason = "window_over" // not_after has passed
	PauseTeamUnknown      PauseReason = "operations_team_does_not_exist"
)

// RunTally counts the outcomes of a run's accounts. Once a run is Running,
// Selected no longer changes, and at its end the others add up to it.
type RunTally struct {
	Selected  int
	Succeeded int
	Failed    int // because of their data
	Refused   int // created by others or skipped meanwhile
}

// Done is how many accounts have an outcome.
func (t RunTally) Done() int { return t.Succeeded + t.Failed + t.Refused }

// Remaining is how many have none yet.
func (t RunTally) Remaining() int { return t.Selected - t.Done() }

// Run creates a supplier's staged accounts in the background, or tries to in a dry
// run. Its selection is a list of accounts that is fixed when it starts; an account
// that is staged again later is created from its newest revision.
type Run struct {
	ID          string
	Plan        RunPlan
	State       RunState
	Cancel      bool        // it is cancelled as soon as no worker is busy with it
	Reason      PauseReason // of a paused run, or of one that is paused as soon as no worker is busy with it
	Chosen      bool        // its accounts are chosen
	Tally       RunTally
	RunningTime time.Duration // how long it has been Running, up to the time it was read
	CreatedAt   time.Time
	StartedAt   time.Time // zero until then; everything staged by then is selected
	EndedAt     time.Time // zero until then
	Undone      int       // how many of its accounts were undone since
	PurgedAt    time.Time // when its accounts and failures were removed; zero while they are kept
	ReadAt      time.Time // by the database's clock: the rest is as it was then
	CreatedBy   Author
	// ActsFor is the author in whose name accounts are created: the one who
	// started the run, or resumed it last.
	ActsFor Author
}

// Equal reports whether nothing differs between two states of a run.
func (r *Run) Equal(other Run) bool { return reflect.DeepEqual(*r, other) }

// RunSample is the progress of a run at a moment.
type RunSample struct {
	At    time.Time
	State RunState
	Done  int
}

// StalledFor is how long a running run has finished nothing, according to its
// samples; 0 while it makes progress.
func (r *Run) StalledFor(samples []RunSample) time.Duration {
	if r.State != RunRunning || r.Tally.Remaining() == 0 {
		return 0
	}
	since := r.ReadAt
	for i := len(samples) - 1; i >= 0 && samples[i].Done == r.Tally.Done() && samples[i].State == RunRunning; i-- {
		since = samples[i].At
	}
	if length := r.ReadAt.Sub(since); length >= limits.RunStalled {
		return length
	}
	return 0
}

// Due reports whether a run is inside its window.
func (r *Run) Due() bool { return !r.ReadAt.Before(r.Plan.NotBefore) && !r.WindowOver() }

// WindowOver reports whether the window of a run has ended.
func (r *Run) WindowOver() bool { return !r.Plan.NotAfter.IsZero() && r.ReadAt.After(r.Plan.NotAfter) }

// Stopping reports whether no worker may start anything for a run.
func (r *Run) Stopping() bool { return r.Cancel || r.Reason != "" || r.State.Ended() }

// ErrRunEnded refuses a change of a run that has ended or is being cancelled: it
// finishes the accounts it has started, but cannot be brought back.
var ErrRunEnded = Refuse(CodeRunEnded, "This run has ended.")

// RequestPause asks for a pause on behalf of a caller or operator.
func (r *Run) RequestPause() error {
	if r.State.Ended() || r.Cancel {
		return ErrRunEnded
	}
	r.Pause(PauseRequested)
	return nil
}

// RequestCancel asks for the end of a run. Asking again changes nothing.
func (r *Run) RequestCancel() error {
	if r.State == RunFinished {
		return ErrRunEnded
	}
	r.Cancel = true
	return nil
}

// RequestResume ends a pause, in the name of an author from now on. The key that
// started the run is not kept: if it was revoked, the run would stop again.
func (r *Run) RequestResume(author Author) error {
	if r.State.Ended() || r.Cancel {
		return ErrRunEnded
	}
	if r.Reason != "" {
		r.ResumeFor(author)
	}
	return nil
}

// Pause asks for a pause; it begins when the accounts in progress are finished. A
// caller's request overrides a reason that would end by itself.
func (r *Run) Pause(reason PauseReason) {
	if r.State.Ended() || r.Cancel || r.Reason != "" && reason != PauseRequested {
		return
	}
	r.Reason = reason
}

// ResumeFor resumes a run in the name of an author. If the window of the run is
// over, the run continues without one, because resuming it is a deliberate
// decision.
func (r *Run) ResumeFor(author Author) {
	if r.WindowOver() {
		r.Plan.NotAfter = time.Time{}
	}
	r.ActsFor = author
	r.Resume()
}

// Resume ends a pause.
func (r *Run) Resume() {
	if r.State.Ended() || r.Cancel {
		return
	}
	r.Reason = ""
	if r.State == RunPaused {
		r.State = RunWaiting
		if !r.StartedAt.IsZero() {
			r.State = RunRunning
		}
	}
}

// CompleteStop pauses or cancels a run that was asked to stop, once no worker
// is busy with it, and returns the event; nil if there was nothing to do.
func (r *Run) CompleteStop() *Event {
	switch {
	case r.State.Ended():
		return nil
	case r.Cancel:
		r.State, r.Reason, r.EndedAt = RunCancelled, "", r.ReadAt
		return r.event(EventRunCancelled)
	case r.Reason != "" && r.State != RunPaused:
		r.State = RunPaused
		return r.event(EventRunPaused)
	}
	return nil
}

// Finish ends a run whose accounts all have an outcome.
func (r *Run) Finish() *Event {
	r.State, r.Reason, r.EndedAt = RunFinished, "", r.ReadAt
	return r.event(EventRunFinished)
}

// Start begins a run whose accounts are chosen.
func (r *Run) Start() *Event {
	r.State = RunRunning
	return r.event(EventRunStarted)
}

// ErrRunPurged refuses to list the accounts of a run that were purged.
var ErrRunPurged = Refuse(CodeRunPurged, "The accounts of this run were removed because their retention period has ended. The run and its totals are kept.")

// RunReader reads runs.
type RunReader interface {
	// Run returns one by its id, or ErrNotFound.
	Run(ctx context.Context, id string) (Run, error)
	// Runs returns a supplier's runs, newest first. An unknown supplier has none,
	// and nothing comes after an unknown run.
	Runs(ctx context.Context, query RunQuery) ([]Run, error)
	// LastRuns returns the newest run of every supplier that has any.
	LastRuns(ctx context.Context) ([]Run, error)
	// LiveRuns returns all runs that have not ended, oldest first.
	LiveRuns(ctx context.Context) ([]Run, error)
	// RunIsDone reports whether every account of a run has its outcome.
	RunIsDone(ctx context.Context, id string) (bool, error)
	// RunSamples returns the progress of a run over time since an instant, oldest
	// first.
	RunSamples(ctx context.Context, id string, since time.Time) ([]RunSample, error)
}

// RunWriter changes runs. A transaction that reads a run by its id locks it: no
// slice of it can be taken until the transaction has ended.
type RunWriter interface {
	// CreateRun stores a new run with its author and returns it as stored, or
	// ErrExists with the live run of its supplier. Of many concurrent calls exactly
	// one succeeds. ErrNotFound when there is no such supplier.
	CreateRun(ctx context.Context, run Run) (Run, error)
	// SaveRun stores what the methods of a run changed, and adds up the time it has
	// been running.
	SaveRun(ctx context.Context, run Run) error
	// RunIdle waits until nothing is being written for a run, and reports whether
	// none of its slices is held.
	RunIdle(ctx context.Context, id string) (bool, error)
	// SampleRuns records the progress of every live run that has begun, unless that
	// was recorded within the interval. It deletes samples of runs that ended long
	// ago.
	SampleRuns(ctx context.Context, every time.Duration) error
}
