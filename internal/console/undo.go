package console

import (
	"context"
	"maps"
	"sync"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

// undoing is the undo of a run that somebody asked for here. It may take
// minutes, so it goes on behind the page; what it has done is in the database,
// and when the service ends meanwhile the same undo goes on where it was.
type undoing struct {
	By       string
	Began    time.Time
	Ended    time.Time // zero while it goes on
	Done, Of int
	Undone   int
	Kept     map[landfall.KeptReason]int
	Failed   int
	Trouble  string
}

// AllKept is how many accounts cannot be taken back any more.
func (u undoing) AllKept() int { return landfall.UndoForecast{Kept: u.Kept}.AllKept() }

// KeptWords says why accounts were kept.
func (u undoing) KeptWords() []Row { return keptRows(u.Kept) }

// keptWords is why an account is kept.
var keptWords = map[landfall.KeptReason]string{
	landfall.KeptWindowOver: "created longer ago than the undo window", landfall.KeptHasPostings: "something was added since",
	landfall.KeptCustomersTold: "a customer was told", landfall.KeptErased: "what was personal was erased",
}

func keptRows(kept map[landfall.KeptReason]int) (rows []Row) {
	// In the order of the list and not of the map, so that rows do not jump while a page is live.
	for _, reason := range landfall.KeptReasons {
		if count := kept[reason]; count > 0 {
			rows = append(rows, Row{Name: keptWords[reason], Count: int64(count)})
		}
	}
	return rows
}

// undoShown is the page before an undo: what it would come to, by figures.
type undoShown struct {
	head
	landfall.Run
	Forecast counting[landfall.UndoForecast]
	Window   time.Duration
}

// KeptWords says why accounts would be kept.
func (u undoShown) KeptWords() []Row { return keptRows(u.Forecast.Found.Kept) }

func showUndo(v *visit) (any, error) {
	run, err := v.operator().UndoableRun(v.ctx(), v.value("run"))
	if err != nil {
		return nil, err
	}
	supplier, err := v.operator().ShowSupplier(v.ctx(), run.Plan.Supplier)
	if err != nil {
		return nil, err
	}
	forecast := v.console.forecasts.stand(v, run.ID, run.Tally.Selected, func(ctx context.Context, progress func(looked, of int)) (landfall.UndoForecast, error) {
		return v.operator().ForecastUndo(ctx, run, progress)
	})
	return undoShown{
		head: head{Title: "Undo run " + run.ID, Trail: append(runTrail(run), crumb{"Run " + run.ID, address("runs", run.ID)})},
		Run:  run, Forecast: forecast, Window: supplier.UndoWindow,
	}, nil
}

// undos are those of this replica, by run.
type undos struct {
	mu    sync.Mutex
	byRun map[string]*undoing
}

// mostUndos bounds what is remembered of them.
const mostUndos = 100

func newUndos() *undos { return &undos{byRun: map[string]*undoing{}} }

// of gives a copy of how an undo stands, or nil.
func (u *undos) of(run string) *undoing {
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

// begin keeps a new one, unless one of the run is under way.
func (u *undos) begin(run string, one *undoing) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if known := u.byRun[run]; known != nil && known.Ended.IsZero() {
		return false
	}
	// Only ended ones go, however many there are: one under way must not be begun a second time.
	for id, old := range u.byRun {
		if len(u.byRun) >= mostUndos && !old.Ended.IsZero() {
			delete(u.byRun, id)
		}
	}
	u.byRun[run] = one
	return true
}

// note changes one under the lock.
func (u *undos) note(one *undoing, how func(*undoing)) {
	u.mu.Lock()
	defer u.mu.Unlock()
	how(one)
}

// undoRun takes back what a run created, behind the page.
func undoRun(v *visit) (any, error) {
	id, reason := v.value("run"), v.typed("reason")
	facts, err := v.operator().ShowRun(v.ctx(), id, 0)
	if err == nil {
		err = v.confirmed(facts.Plan.Supplier)
	}
	if err != nil {
		return nil, err
	}
	one := &undoing{By: v.me.Name, Began: v.console.Clock(), Of: facts.Tally.Succeeded, Kept: map[landfall.KeptReason]int{}}
	undos, operator := v.console.undos, v.operator()
	if !undos.begin(id, one) {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "The undo of this run is under way already.")
	}
	// What is wrong with the request is found out at once; the rest takes as
	// long as it takes, whether or not anybody watches.
	refused, begun := make(chan error, 1), make(chan struct{})
	var once sync.Once
	go func() {
		ctx, cancel := v.behind()
		defer cancel()
		result, err := operator.UndoRun(ctx, id, reason, operate.RunUndoWatch{
			Progress: func(done, of int) {
				once.Do(func() { close(begun) })
				undos.note(one, func(u *undoing) { u.Done, u.Of = done, of })
			},
			Remnant: func(left operate.RunRemnant) error {
				undos.note(one, func(u *undoing) {
					if left.Err != nil {
						u.Failed++
					} else {
						u.Kept[left.Kept]++
					}
				})
				return nil
			},
		})
		undos.note(one, func(u *undoing) {
			// The result is what holds; what was counted meanwhile was for those who watch.
			u.Ended, u.Undone, u.Failed = v.console.Clock(), result.Undone, result.Failed
			if err != nil {
				u.Trouble = landfall.UserError("undoing a run", err).Detail
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
	return done{to: address("runs", id), say: "The undo has begun. This page shows how far it is."}, nil
}
