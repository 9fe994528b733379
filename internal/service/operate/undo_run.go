package operate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"landfall"
	"landfall/internal/service/audit"
)

// RunUndo says what became of the accounts that a run had created. Undone counts
// all that were ever taken back, so that an undo which was interrupted and
// repeated ends with the figures of one that was not.
type RunUndo struct { //nolint:recvcheck // it is copied where it is only read
	Run     string
	Created int // by the run
	Undone  int
	Kept    map[landfall.KeptReason]int
	Failed  int // the database could not be asked; the next undo tries again
}

// Left is how many accounts are still there, as far as the undo knows.
func (u RunUndo) Left() int { return u.Failed + u.kept() }

func (u RunUndo) kept() (all int) {
	for _, count := range u.Kept {
		all += count
	}
	return all
}

// KeptAccount is an account of a run that was not taken back, and why.
type KeptAccount struct {
	Key    landfall.Key
	Number string              // when it is known
	Kept   landfall.KeptReason // "" when the undo failed
	Err    error               // why it failed
}

// RunUndoWatch sees the undo of a run as it goes on. Each call comes after the
// one before has returned.
type RunUndoWatch struct {
	Kept     func(KeptAccount) error // an error stops the undo
	Progress func(done, of int)
}

const (
	// undosAtOnce is how many accounts are taken back side by side. They share
	// transactions; more of them would hold everybody else up for longer.
	undosAtOnce = 8
	// tries and pause are for a database that is away for a moment. A row of
	// hopeless accounts means that it is away for longer.
	undoTries = 5
	undoPause = 200 * time.Millisecond
	hopeless  = 16
)

// ErrInterrupted means that somebody ended long work before it was done.
var ErrInterrupted = errors.New("interrupted; the same command goes on where it was")

// UndoRun takes back all accounts that a run created and that can be taken
// back. Every account is done by itself, so it may be interrupted at any time
// and repeated: it goes on where it was.
func (o *Operator) UndoRun(ctx context.Context, id, reason string, watch RunUndoWatch) (RunUndo, error) {
	if err := checkLine("reason", "The reason", reason, longestReason); err != nil {
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
		// Progress goes on from what an earlier undo of the run has done, so that it
		// ends where the run's own figure does.
		before, err = tx.UndoneInRun(ctx, id)
		return reason, err
	})
	if err != nil {
		return RunUndo{}, err
	}
	stopped := o.undoAll(ctx, &undo, reason, before, watch)
	// What happened is counted even when somebody has lost his patience.
	patient := context.WithoutCancel(ctx)
	audit.ChainSoon(patient, o.store)
	err = o.view(patient, "run.undo", func(view landfall.View) (err error) {
		undo.Undone, err = view.UndoneInRun(patient, id)
		return err
	})
	if err == nil {
		// Of some nothing was heard, and they are gone all the same.
		undo.Failed = max(0, min(undo.Failed, undo.Created-undo.Undone-undo.kept()))
	}
	return undo, errors.Join(stopped, err)
}

// UndoableRun gives a run of which something can be taken back, or says why
// nothing can.
func (o *Operator) UndoableRun(ctx context.Context, id string) (run landfall.Run, err error) {
	err = o.view(ctx, "run.undo", func(view landfall.View) (err error) {
		if run, err = view.Run(ctx, id); err != nil {
			return replaceError(err, landfall.ErrNotFound, noRun(id))
		}
		return undoable(run)
	})
	return run, err
}

// forecastStep is how many members of a run are looked at in one look: few
// enough that a million of them hold nobody else up.
const forecastStep = 5_000

// ForecastUndo says what the undo of a run would come to, from every account
// that it created, each as it is when it is looked at. Whoever reads it decides
// by figures and not by rules. It takes seconds where a run created very many,
// and progress is told of every step.
func (o *Operator) ForecastUndo(ctx context.Context, run landfall.Run, progress func(looked, of int)) (landfall.UndoForecast, error) {
	all := landfall.UndoForecast{Kept: map[landfall.KeptReason]int{}}
	for from := 0; from < run.Tally.Selected; from += forecastStep {
		var part landfall.UndoForecast
		if err := o.view(ctx, "run.undo", func(view landfall.View) (err error) {
			part, err = view.UndoForecast(ctx, run.ID, from, forecastStep)
			return err
		}); err != nil {
			return landfall.UndoForecast{}, err
		}
		all = all.Plus(part)
		progress(min(from+forecastStep, run.Tally.Selected), run.Tally.Selected)
	}
	return all, nil
}

// undoable refuses runs of which nothing can be taken back, or not yet: while
// it goes on, a run creates more.
func undoable(run landfall.Run) error {
	switch {
	case run.Plan.DryRun:
		return landfall.Refuse(landfall.CodeValidationFailed, "The run was a dry run: it created nothing that could be taken back.")
	case !run.State.Ended():
		return landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
			"The run is %s and may create more accounts. Cancel it first, or wait until it has ended.", run.State))
	}
	return nil
}

// undoResult is what came of one account.
type undoResult struct {
	key     landfall.Key
	outcome landfall.UndoOutcome
	err     error
}

// undoAll lets several workers take back what the store streams.
func (o *Operator) undoAll(ctx context.Context, undo *RunUndo, reason string, done int, watch RunUndoWatch) error {
	working, stop := context.WithCancel(ctx)
	defer stop()
	// Nothing is buffered: every key that was handed out is in somebody's hands, and
	// whoever stops waits for no more than those.
	keys, results := make(chan landfall.Key), make(chan undoResult)
	// It is written before keys is closed and read when the workers are done, who
	// wait for that: so it needs no lock.
	var listed error
	go func() {
		defer close(keys)
		for key, err := range o.store.RunCreated(working, undo.Run) {
			if err != nil {
				listed = storeError("run.undo", err)
				return
			}
			select {
			case keys <- key:
			case <-working.Done():
				return
			}
		}
	}()
	var workers sync.WaitGroup
	for range undosAtOnce {
		workers.Go(func() {
			for key := range keys {
				outcome, err := o.undoOne(working, o.undoRequest(key, reason, undo.Run))
				results <- undoResult{key, outcome, err}
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

// gather counts results until there are no more. When something is wrong it
// stops the workers and waits for what they have in hand.
func (u *RunUndo) gather(results <-chan undoResult, done int, watch RunUndoWatch, stop context.CancelFunc) (stopped error) {
	inVain := 0
	for result := range results {
		remnant := KeptAccount{Key: result.key, Number: result.outcome.Number, Kept: result.outcome.Kept, Err: result.err}
		// Being interrupted says nothing about an account. It is left to the next
		// undo, and counts neither as failed nor as done.
		if errors.Is(result.err, context.Canceled) {
			continue
		}
		gone := false
		if result.err != nil {
			u.Failed++
			inVain++
		} else {
			// One answer is enough to know that the database is there; only a row
			// without any means that it is not.
			inVain = 0
			if gone = result.outcome.Verdict != landfall.UndoKept; !gone {
				u.Kept[result.outcome.Kept]++
			}
		}
		if stopped == nil && inVain >= hopeless {
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

// undoOne takes one account back, and waits for a database that is away for a
// moment.
func (o *Operator) undoOne(ctx context.Context, undoing landfall.UndoRequest) (outcome landfall.UndoOutcome, err error) {
	for try := range undoTries {
		if try > 0 {
			select {
			case <-time.After(undoPause << try):
			case <-ctx.Done():
				return outcome, ctx.Err()
			}
		}
		// An undo whose outcome is not known is asked again like any other: of an
		// account that is gone it finds none of this run.
		if outcome, err = o.store.Undo(ctx, undoing); err == nil || ctx.Err() != nil {
			break
		}
	}
	if ctx.Err() != nil && err != nil {
		return outcome, ctx.Err()
	}
	return outcome, err
}
