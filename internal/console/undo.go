package console

import (
	"context"
	"maps"
	"sync"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

// undoJob is the undo of a run that somebody asked for here. It may take
// minutes, so it goes on behind the page; what it has done is in the database,
// and when the service ends meanwhile the same undo goes on where it was.
type undoJob struct {
	Actor       string
	StartedAt   time.Time
	EndedAt     time.Time // zero while it goes on
	Done, Total int
	Undone      int
	Kept        map[landfall.KeptReason]int
	Failed      int
	Error       string
}

// AllKept is how many accounts cannot be taken back any more.
func (u undoJob) AllKept() int { return landfall.UndoForecast{Kept: u.Kept}.AllKept() }

// KeptRows says why accounts were kept.
func (u undoJob) KeptRows() []Row { return keptRows(u.Kept) }

// keptLabels is why an account is kept.
var keptLabels = map[landfall.KeptReason]string{
	landfall.KeptWindowOver: "created longer ago than the undo window", landfall.KeptHasPostings: "something was added since",
	landfall.KeptCustomersTold: "a customer was told", landfall.KeptErased: "what was personal was erased",
}

func keptRows(kept map[landfall.KeptReason]int) (rows []Row) {
	// In the order of the list and not of the map, so that rows do not jump while a page is live.
	for _, reason := range landfall.KeptReasons {
		if count := kept[reason]; count > 0 {
			rows = append(rows, Row{Name: keptLabels[reason], Count: int64(count)})
		}
	}
	return rows
}

// undoPage is the page before an undo: what it would come to, by figures.
type undoPage struct {
	pageHead
	landfall.Run
	Forecast countJob[landfall.UndoForecast]
	Window   time.Duration
}

// KeptRows says why accounts would be kept.
func (u undoPage) KeptRows() []Row { return keptRows(u.Forecast.Result.Kept) }

func showUndo(r *pageRequest) (any, error) {
	run, err := r.operator().UndoableRun(r.Context(), r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	supplier, err := r.operator().ShowSupplier(r.Context(), run.Plan.Supplier)
	if err != nil {
		return nil, err
	}
	forecast := r.console.undoForecasts.get(r, run.ID, run.Tally.Selected, func(ctx context.Context, progress func(looked, of int)) (landfall.UndoForecast, error) {
		return r.operator().ForecastUndo(ctx, run, progress)
	})
	return undoPage{
		pageHead: pageHead{Title: "Undo run " + run.ID, Breadcrumbs: append(runBreadcrumbs(run), breadcrumb{"Run " + run.ID, consolePath("runs", run.ID)})},
		Run:      run, Forecast: forecast, Window: supplier.UndoWindow,
	}, nil
}

// undoJobs are those of this replica, by run.
type undoJobs struct {
	mu    sync.Mutex
	byRun map[string]*undoJob
}

// maxUndoJobs bounds what is remembered of them.
const maxUndoJobs = 100

func newUndoJobs() *undoJobs { return &undoJobs{byRun: map[string]*undoJob{}} }

// get gives a copy of how an undo stands, or nil.
func (u *undoJobs) get(run string) *undoJob {
	u.mu.Lock()
	defer u.mu.Unlock()
	found := u.byRun[run]
	if found == nil {
		return nil
	}
	// Copied with its map: the undo goes on writing into the original while a view reads.
	copied := *found
	copied.Kept = maps.Clone(found.Kept)
	return &copied
}

// start keeps a new one, unless one of the run is under way.
func (u *undoJobs) start(run string, one *undoJob) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.byRun[run]; known != nil && known.EndedAt.IsZero() {
		return false
	}
	// Only ended ones go, however many there are: one under way must not be begun a second time.
	for id, old := range u.byRun {
		if len(u.byRun) >= maxUndoJobs && !old.EndedAt.IsZero() {
			delete(u.byRun, id)
		}
	}
	u.byRun[run] = one
	return true
}

// update changes one under the lock.
func (u *undoJobs) update(one *undoJob, how func(*undoJob)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	how(one)
}

// undoRun takes back what a run created, behind the page.
func undoRun(r *pageRequest) (any, error) {
	id, reason := r.PathValue("run"), r.formValue("reason")
	facts, err := r.operator().ShowRun(r.Context(), id, 0)
	if err == nil {
		err = r.requireConfirmation(facts.Plan.Supplier)
	}
	if err != nil {
		return nil, err
	}
	one := &undoJob{Actor: r.me.Name, StartedAt: r.console.Clock(), Total: facts.Tally.Succeeded, Kept: map[landfall.KeptReason]int{}}
	undos, operator := r.console.undoJobs, r.operator()
	if !undos.start(id, one) {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "The undo of this run is under way already.")
	}
	// What is wrong with the request is found out at once; the rest takes as
	// long as it takes, whether or not anybody watches.
	refused, begun := make(chan error, 1), make(chan struct{})
	var once sync.Once
	go func() {
		ctx, cancel := r.background()
		defer cancel()
		result, err := operator.UndoRun(ctx, id, reason, operate.RunUndoWatch{
			Progress: func(done, of int) {
				once.Do(func() { close(begun) })
				undos.update(one, func(u *undoJob) { u.Done, u.Total = done, of })
			},
			Remnant: func(left operate.RunRemnant) error {
				undos.update(one, func(u *undoJob) {
					if left.Err != nil {
						u.Failed++
					} else {
						u.Kept[left.Kept]++
					}
				})
				return nil
			},
		})
		undos.update(one, func(u *undoJob) {
			// The result is what holds; what was counted meanwhile was for those who watch.
			u.EndedAt, u.Undone, u.Failed = r.console.Clock(), result.Undone, result.Failed
			if err != nil {
				u.Error = landfall.UserError("undoing a run", err).Detail
			}
		})
		// Sent before begun is closed, so that whoever wakes by that finds it: an undo refused at
		// once is answered as a refusal and not as begun.
		refused <- err
		once.Do(func() { close(begun) })
	}()
	<-begun
	select {
	case err := <-refused:
		if err != nil {
			return nil, err
		}
	default:
	}
	return redirect{to: consolePath("runs", id), message: "The undo has begun. This page shows how far it is."}, nil
}
