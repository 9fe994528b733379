package operate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/service/audit"
)

// RunUndo is the result of undoing a run. Undone counts all accounts of the run
// that were ever undone, so that an interrupted and repeated undo ends with the
// same figures as an uninterrupted one.
type RunUndo struct { //nolint:recvcheck // it is copied where it is only read
	Run     string
	Created int // by the run
	Undone  int
	Kept    map[landfall.KeptReason]int
	Failed  int // the database did not answer; the next undo tries again
}

// Left returns how many accounts still exist, as far as the undo knows.
func (u RunUndo) Left() int { return u.Failed + u.kept() }

func (u RunUndo) kept() (all int) {
	for _, count := range u.Kept {
		all += count
	}
	return all
}

// KeptAccount is an account of a run that was not undone, and why.
type KeptAccount struct {
	Key    landfall.Key
	Number string              // if it is known
	Kept   landfall.KeptReason // "" if the undo failed
	Err    error               // why it failed
}

// RunUndoWatch observes the undo of a run. Its functions are never called
// concurrently.
type RunUndoWatch struct {
	Kept     func(KeptAccount) error // an error stops the undo
	Progress func(done, of int)
	// Archive saves postings. Without one, postings that did not come with the
	// delivery of their account keep it.
	Archive PostingArchive
}

const (
	// undosAtOnce is how many accounts are undone concurrently. They share
	// transactions; with more of them, others would wait longer.
	undosAtOnce = 8
	// undoTries, with pauses of limits.UndoRetry, bridges a short outage of the database. The undo
	// stops after maxUndoFailures failures in a row: then the outage is a longer
	// one.
	undoTries       = 5
	maxUndoFailures = 16
)

// ErrInterrupted means that long work was cancelled before it was done.
var ErrInterrupted = errors.New("interrupted; run the same command again to continue")

// UndoRun undoes all accounts that a run created, as far as they can be undone.
// Each account is undone separately, so the undo may be interrupted at any time
// and repeated: it continues where it stopped.
func (o *Operator) UndoRun(ctx context.Context, id, reason string, watch RunUndoWatch) (RunUndo, error) {
	if err := checkLine("reason", "The reason", reason, maxReasonLength); err != nil {
		return RunUndo{}, err
	}
	undo := RunUndo{Run: id, Kept: map[landfall.KeptReason]int{}}
	before := 0
	err := o.change(ctx, "run.undo", id, func(tx landfall.Tx) (string, error) {
		run, err := tx.Run(ctx, id)
		if err != nil {
			return "", replaceError(err, landfall.ErrNotFound, noRun(id))
		}
		if err := undoable(run); err != nil {
			return "", err
		}
		undo.Created = run.Tally.Succeeded
		// Count progress from what an earlier undo of the run has done, so that
		// it ends at the run's own figure.
		before, err = tx.UndoneInRun(ctx, id)
		return reason, err
	})
	if err != nil {
		return RunUndo{}, err
	}
	stopped := o.undoAll(ctx, &undo, reason, before, watch)
	// Count the result even if the caller has cancelled.
	patient := context.WithoutCancel(ctx)
	audit.ChainSoon(patient, o.store)
	err = o.view(patient, "run.undo", func(view landfall.View) (err error) {
		undo.Undone, err = view.UndoneInRun(patient, id)
		return err
	})
	if err == nil {
		// Some accounts whose answer was lost were undone all the same.
		undo.Failed = max(0, min(undo.Failed, undo.Created-undo.Undone-undo.kept()))
	}
	return undo, errors.Join(stopped, err)
}

// UndoableRun returns a run that can be undone, or an error that says why it
// cannot.
func (o *Operator) UndoableRun(ctx context.Context, id string) (run landfall.Run, err error) {
	err = o.view(ctx, "run.undo", func(view landfall.View) (err error) {
		if run, err = view.Run(ctx, id); err != nil {
			return replaceError(err, landfall.ErrNotFound, noRun(id))
		}
		return undoable(run)
	})
	return run, err
}

// forecastStep is how many members of a run one query examines. It is small
// enough that a run of a million does not hold others up.
const forecastStep = 5_000

// ForecastWatch observes the forecast of an undo.
type ForecastWatch struct {
	Progress func(looked, of int)             // after every step
	Kept     func(landfall.KeptAccount) error // an error stops the forecast; nil: not wanted
}

// ForecastUndo returns what the undo of a run would do. It examines every
// account that the run created, so that an operator can decide by figures and
// not by rules. For a very large run it takes seconds.
func (o *Operator) ForecastUndo(ctx context.Context, run landfall.Run, allPostings bool, watch ForecastWatch) (landfall.UndoForecast, error) {
	all := landfall.UndoForecast{Kept: map[landfall.KeptReason]int{}}
	for from := 0; from < run.Tally.Selected; from += forecastStep {
		var part landfall.UndoForecast
		if err := o.view(ctx, "run.undo", func(view landfall.View) (err error) {
			part, err = view.UndoForecast(ctx, landfall.UndoForecastQuery{Run: run.ID, From: from, Limit: forecastStep, AllPostings: allPostings})
			return err
		}); err != nil {
			return landfall.UndoForecast{}, err
		}
		all = all.Plus(part)
		for _, kept := range part.KeptAccounts {
			if watch.Kept == nil {
				break
			}
			if err := watch.Kept(kept); err != nil {
				return landfall.UndoForecast{}, err
			}
		}
		watch.Progress(min(from+forecastStep, run.Tally.Selected), run.Tally.Selected)
	}
	return all, nil
}

// undoable refuses a dry run, which created nothing, and a run that has not
// ended, because it may still create accounts.
func undoable(run landfall.Run) error {
	switch {
	case run.Plan.DryRun:
		return landfall.Refuse(landfall.CodeValidationFailed, "The run was a dry run: it created nothing that could be undone.")
	case !run.State.Ended():
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
			"The run is %s and may create more accounts. Cancel it first, or wait until it has ended.", run.State))
	case !run.PurgedAt.IsZero():
		return landfall.ErrRunPurged
	}
	return nil
}

// undoResult is the result for one account.
type undoResult struct {
	key     landfall.Key
	outcome landfall.UndoOutcome
	err     error
}

// undoAll undoes the accounts that the store streams, with several workers.
func (o *Operator) undoAll(ctx context.Context, undo *RunUndo, reason string, done int, watch RunUndoWatch) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	// The channels are unbuffered: a worker has every task that was handed out,
	// so stopping waits only for those.
	tasks, results := make(chan undoTask), make(chan undoResult)
	// listed needs no lock: it is written before tasks is closed and read after
	// the workers have ended, and they end only after tasks is closed.
	var listed error
	go func() {
		defer close(tasks)
		if err := o.handOut(working, undo.Run, reason, watch.Archive, tasks); err != nil {
			listed = undoError("run.undo", err)
		}
	}()
	var workers sync.WaitGroup
	for range undosAtOnce {
		workers.Go(func() {
			for task := range tasks {
				outcome, err := o.undoOne(working, task.UndoRequest)
				if task.done(outcome) {
					continue
				}
				if outcome.Verdict == landfall.UndoUnsaved {
					outcome.Verdict, outcome.Kept = landfall.UndoKept, landfall.KeptHasPostings
				}
				results <- undoResult{task.Key, outcome, err}
			}
		})
	}
	go func() {
		workers.Wait()
		close(results)
	}()
	err := undo.gather(results, done, watch, stop)
	switch {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return ErrInterrupted
	}
	return listed
}

// gather counts results until there are no more. On a problem it stops the
// workers and waits for the accounts they have started.
func (u *RunUndo) gather(results <-chan undoResult, done int, watch RunUndoWatch, stop context.CancelFunc) (stopped error) {
	inVain := 0
	for result := range results {
		remnant := KeptAccount{Key: result.key, Number: result.outcome.Number, Kept: result.outcome.Kept, Err: result.err}
		// A cancelled account counts neither as failed nor as done. The next
		// undo handles it.
		if errors.Is(result.err, context.Canceled) {
			continue
		}
		gone := false
		if result.err != nil {
			u.Failed++
			inVain++
		} else {
			// A single answer shows that the database is there. Only a series of
			// failures means that it is not.
			inVain = 0
			if gone = result.outcome.Verdict != landfall.UndoKept; !gone {
				u.Kept[result.outcome.Kept]++
			}
		}
		if stopped == nil && inVain >= maxUndoFailures {
			stopped = storeError("run.undo", result.err)
			stop()
		}
		if stopped == nil && !gone && watch.Kept != nil {
			if stopped = watch.Kept(remnant); stopped != nil {
				stop()
			}
		}
		if done++; watch.Progress != nil {
			watch.Progress(done, u.Created)
		}
	}
	return stopped
}

// undoOne undoes one account and retries during a short outage of the database.
func (o *Operator) undoOne(ctx context.Context, undoing landfall.UndoRequest) (outcome landfall.UndoOutcome, err error) {
	for try := range undoTries {
		if try > 0 {
			select {
			case <-time.After(limits.UndoRetry << try):
			case <-ctx.Done():
				return outcome, ctx.Err()
			}
		}
		// An undo with an unknown outcome is simply repeated: if the account is
		// gone, the store finds none of this run.
		if outcome, err = o.undoAccount(ctx, undoing); err == nil || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil && err != nil {
		return outcome, ctx.Err()
	}
	return outcome, err
}
