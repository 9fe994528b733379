package run

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/service/intake"
)

// NeedsAdvance reports whether AdvanceRun would change a run. It writes nothing.
func NeedsAdvance(ctx context.Context, view landfall.View, run landfall.Run) (bool, error) {
	expected := run
	if err := applyStop(ctx, view, &expected); err != nil {
		return false, err
	}
	switch {
	case !expected.Equal(run),
		run.Stopping() && run.State != landfall.RunPaused,
		run.Cancel,
		run.State == landfall.RunWaiting && run.Chosen && run.Due():
		return true, nil
	case run.State == landfall.RunRunning:
		return view.RunIsDone(ctx, run.ID)
	}
	return false, nil
}

// AdvanceRun brings a run to the state it should be in now and returns it. A run
// stops and resumes with its supplier, stops when its window is over, pauses or
// cancels once no worker has a slice of it, starts when its accounts are chosen,
// and finishes when each of them has an outcome. Any number of replicas may call
// it.
func (r *Runner) AdvanceRun(ctx context.Context, id string) (landfall.Run, error) {
	return r.advance(ctx, r.store, id)
}

// advance is AdvanceRun on the store for a caller.
func (r *Runner) advance(ctx context.Context, store landfall.Transactor, id string) (landfall.Run, error) {
	var run landfall.Run
	err := store.Update(ctx, func(tx landfall.Tx) (err error) {
		if run, err = tx.Run(ctx, id); err != nil || run.State.Ended() {
			return err
		}
		before := run
		if err := applyStop(ctx, tx, &run); err != nil {
			return err
		}
		event, err := nextState(ctx, tx, &run)
		if err != nil || run.Equal(before) {
			return err
		}
		if err := tx.SaveRun(ctx, run); err != nil || event == nil {
			return err
		}
		return tx.AppendEvent(ctx, *event)
	})
	if err != nil {
		return landfall.Run{}, err
	}
	return run, nil
}

// temporary lists the reasons of a pause that end without an explicit resume.
var temporary = map[landfall.PauseReason]bool{
	landfall.PauseSupplierPaused: true, landfall.PauseSupplierComplete: true, landfall.PauseNotGranted: true,
}

// applyStop pauses a run that must stop, and resumes one whose temporary reason
// is over.
func applyStop(ctx context.Context, view landfall.SupplierReader, run *landfall.Run) error {
	reason, err := stopReason(ctx, view, run)
	switch {
	case err != nil:
		return err
	case reason != "" && temporary[run.Reason]:
		run.Reason = reason // the former reason may be over
	case reason != "":
		run.Pause(reason)
	case temporary[run.Reason]:
		run.Resume()
	}
	return nil
}

// stopReason returns why a run must stop; "" when it may continue.
func stopReason(ctx context.Context, view landfall.SupplierReader, run *landfall.Run) (landfall.PauseReason, error) {
	supplier, err := intake.SupplierFor(ctx, view, run.ActsFor.Organisation, run.Plan.Supplier)
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return landfall.PauseNotGranted, nil
	case err != nil:
		return "", err
	case supplier.Status == landfall.Paused:
		return landfall.PauseSupplierPaused, nil
	case supplier.Status == landfall.Complete:
		return landfall.PauseSupplierComplete, nil
	case run.WindowOver():
		return landfall.PauseWindowOver, nil
	}
	return "", nil
}

// nextState moves a run to its next state, if it is time, and returns the event.
func nextState(ctx context.Context, tx landfall.Tx, run *landfall.Run) (*landfall.Event, error) {
	if run.State == landfall.RunWaiting && run.Chosen && run.Due() && !run.Stopping() {
		return run.Start(), nil
	}
	if run.Stopping() {
		if idle, err := tx.RunIdle(ctx, run.ID); err != nil || !idle {
			return nil, err
		}
	}
	done := false
	if run.State == landfall.RunRunning {
		var err error
		if done, err = tx.RunIsDone(ctx, run.ID); err != nil {
			return nil, err
		}
	}
	if !done && !run.Stopping() {
		return nil, nil
	}
	// Accounts may have been settled since the run was read, and the event reports
	// the totals.
	latest, err := tx.Run(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	if run.Tally = latest.Tally; done {
		return run.Finish(), nil // even if it was asked to stop: there is nothing left to stop
	}
	return run.CompleteStop(), nil
}
