package console

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// undoJob is the undo of a run. It may take minutes, so it runs in the background.
// Its work is in the database: if the service stops, the same undo can be started
// again and continues.
type undoJob struct {
	Actor       string
	StartedAt   time.Time
	EndedAt     time.Time // zero while it runs
	Done, Total int
	Undone      int
	Kept        map[landfall.KeptReason]int
	Failed      int
	Error       string
}

// AllKept is the number of accounts that cannot be undone.
func (u undoJob) AllKept() int { return landfall.UndoForecast{Kept: u.Kept}.AllKept() }

// KeptRows counts the kept accounts by reason.
func (u undoJob) KeptRows() []Row { return keptRows(u.Kept) }

var keptLabels = map[landfall.KeptReason]string{
	landfall.KeptWindowOver: "undo window is over", landfall.KeptHasPostings: "something else was added",
	landfall.KeptCustomersTold: "customer was notified", landfall.KeptErased: "personal data was erased",
	landfall.KeptDamaged:   "stored document is damaged or missing",
	landfall.KeptDelivered: "delivered to the target, which does not take accounts back",
}

// keptRows keeps the order of the reasons, so that rows do not move on a live page.
func keptRows(kept map[landfall.KeptReason]int) (rows []Row) {
	for _, reason := range landfall.KeptReasons {
		if count := kept[reason]; count > 0 {
			rows = append(rows, Row{Name: keptLabels[reason], Count: int64(count)})
		}
	}
	return rows
}

type undoForecast struct {
	landfall.UndoForecast
	Examples []landfall.KeptAccount // the first accounts that would be kept
}

// maxKeptExamples is how many of the accounts that would be kept a page lists.
const maxKeptExamples = 20

// KeptRows counts the accounts that would be kept by reason.
func (f undoForecast) KeptRows() []Row { return keptRows(f.Kept) }

// Balances is the sum of the balances that would be removed, by currency.
func (f undoForecast) Balances() (texts []string) {
	for _, currency := range slices.Sorted(maps.Keys(f.Removed.Balances)) {
		texts = append(texts, accountview.Money(f.Removed.Balances[currency], currency))
	}
	return texts
}

// Reason says why an account would be kept.
func (f undoForecast) Reason(kept landfall.KeptAccount) string {
	if kept.Reason != landfall.KeptHasPostings {
		return keptLabels[kept.Reason]
	}
	return fmt.Sprintf("%s: %d that did not come with its delivery", keptLabels[kept.Reason], kept.OtherPostings)
}

// undoPage shows what undoing a run would do.
type undoPage struct {
	pageHead
	landfall.Run
	Forecast countJob[undoForecast]
	Window   time.Duration
}

func (p undoPage) aboutSupplier() string { return p.Plan.Supplier }

func showUndo(r *pageRequest) (any, error) {
	run, err := r.operator().UndoableRun(r.Context(), r.PathValue("run"))
	if err != nil {
		return nil, err
	}
	supplier, err := r.operator().ShowSupplier(r.Context(), run.Plan.Supplier)
	if err != nil {
		return nil, err
	}
	forecast := r.console.undoForecasts.get(r, run.ID, run.Tally.Selected, func(ctx context.Context, progress func(done, total int)) (undoForecast, error) {
		var examples []landfall.KeptAccount
		forecast, err := r.operator().ForecastUndo(ctx, run, false, operate.ForecastWatch{Progress: progress, Kept: func(kept landfall.KeptAccount) error {
			if len(examples) < maxKeptExamples {
				examples = append(examples, kept)
			}
			return nil
		}})
		return undoForecast{forecast, examples}, err
	})
	return undoPage{
		pageHead: pageHead{Title: "Undo run " + run.ID, Breadcrumbs: append(runBreadcrumbs(run), breadcrumb{"Run " + run.ID, consolePath("runs", run.ID)})},
		Run:      run, Forecast: forecast, Window: supplier.UndoWindow,
	}, nil
}

// undoJobs are the undo jobs of this replica by run.
type undoJobs struct {
	mu    sync.Mutex
	byRun map[string]*undoJob
}

// maxUndoJobs limits the jobs that are remembered.
const maxUndoJobs = 100

func newUndoJobs() *undoJobs { return &undoJobs{byRun: map[string]*undoJob{}} }

// get returns a copy of a job, or nil.
func (u *undoJobs) get(run string) *undoJob {
	u.mu.Lock()
	defer u.mu.Unlock()
	job := u.byRun[run]
	if job == nil {
		return nil
	}
	copied := *job
	copied.Kept = maps.Clone(job.Kept) // the job keeps writing to it
	return &copied
}

// start adds a job, unless one for the run is running.
func (u *undoJobs) start(run string, job *undoJob) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.byRun[run]; known != nil && known.EndedAt.IsZero() {
		return false
	}
	// Forget only jobs that have ended: a running one must not be started twice.
	for id, old := range u.byRun {
		if len(u.byRun) >= maxUndoJobs && !old.EndedAt.IsZero() {
			delete(u.byRun, id)
		}
	}
	u.byRun[run] = job
	return true
}

// update changes a job under the lock.
func (u *undoJobs) update(job *undoJob, change func(*undoJob)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	change(job)
}

// undoRun starts the undo of a run in the background. It waits until the undo was
// accepted or refused.
func undoRun(r *pageRequest) (any, error) {
	id, reason := r.PathValue("run"), r.formValue("reason")
	facts, err := r.confirmedRun()
	if err != nil {
		return nil, err
	}
	job := &undoJob{Actor: r.me.Name, StartedAt: r.console.Clock(), Total: facts.Tally.Succeeded, Kept: map[landfall.KeptReason]int{}}
	jobs, operator := r.console.undoJobs, r.operator()
	if !jobs.start(id, job) {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "This run is being undone already.")
	}
	result, accepted := make(chan error, 1), make(chan struct{})
	var once sync.Once
	go func() {
		ctx, cancel := r.background()
		defer cancel()
		undone, err := operator.UndoRun(ctx, id, reason, operate.RunUndoWatch{
			Progress: func(done, total int) {
				once.Do(func() { close(accepted) })
				jobs.update(job, func(u *undoJob) { u.Done, u.Total = done, total })
			},
			Kept: func(left operate.KeptAccount) error {
				jobs.update(job, func(u *undoJob) {
					if left.Err != nil {
						u.Failed++
					} else {
						u.Kept[left.Kept]++
					}
				})
				return nil
			},
		})
		jobs.update(job, func(u *undoJob) {
			u.EndedAt, u.Undone, u.Failed = r.console.Clock(), undone.Undone, undone.Failed
			if err != nil {
				u.Error = landfall.UserError("undoing a run", err).Detail
			}
		})
		// Send the result before closing accepted, so that an undo that is refused
		// at once is answered as a refusal.
		result <- err
		once.Do(func() { close(accepted) })
	}()
	<-accepted
	select {
	case err := <-result:
		if err != nil {
			return nil, err
		}
	default:
	}
	return redirect{to: consolePath("runs", id)}, nil // the page shows the progress
}
