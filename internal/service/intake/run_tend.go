package intake

import (
	"context"
	"errors"

	"landfall"
)

// Restless reports whether there is something to do about a run's state. Asking
// costs no commit.
func (d *Desk) Restless(ctx context.Context, view landfall.View, run landfall.Run) (bool, error) {
	heeded := run
	if err := d.heed(ctx, view, &heeded); err != nil {
		return false, err
	}
	switch {
	case heeded != run,
		run.Stopping() && run.State != landfall.RunPaused,
		run.Cancel,
		run.State == landfall.RunWaiting && run.Chosen && run.Due():
		return true, nil
	case run.State == landfall.RunRunning:
		return view.RunIsDone(ctx, run.ID)
	}
	return false, nil
}

// TendRun brings a run to the state it should be in by now and gives it: it
// stops with its supplier and goes on with him, stops when its window is over,
// comes to rest when nobody works on it, begins when its accounts are chosen,
// and ends when each of them has an outcome. Any number of replicas may do so.
func (d *Desk) TendRun(ctx context.Context, id string) (landfall.Run, error) {
	var run landfall.Run
	err := d.store.Update(ctx, func(tx landfall.Tx) (err error) {
		if run, err = tx.Run(ctx, id); err != nil || run.State.Ended() {
			return err
		}
		before := run
		if err := d.heed(ctx, tx, &run); err != nil {
			return err
		}
		event, err := d.advance(ctx, tx, &run)
		if err != nil || run == before {
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

// StopRun pauses a run for a reason that a worker met.
func (d *Desk) StopRun(ctx context.Context, id string, reason landfall.PauseReason) error {
	return d.store.Update(ctx, func(tx landfall.Tx) error {
		run, err := tx.Run(ctx, id)
		if err != nil {
			return err
		}
		run.Pause(reason)
		return tx.SaveRun(ctx, run)
	})
}

// passing are the reasons of a pause that go by themselves.
var passing = map[landfall.PauseReason]bool{
	landfall.PauseSupplierPaused: true, landfall.PauseSupplierComplete: true, landfall.PauseNotGranted: true,
}

// heed stops a run that must not go on, and lets one go on that was stopped for
// what is over.
func (d *Desk) heed(ctx context.Context, view landfall.SupplierReader, run *landfall.Run) error {
	reason, err := d.hindrance(ctx, view, run)
	switch {
	case err != nil:
		return err
	case reason != "":
		run.Pause(reason)
	case passing[run.Reason]:
		run.Resume()
	}
	return nil
}

// hindrance is why a run must not go on; "" when it may.
func (d *Desk) hindrance(ctx context.Context, view landfall.SupplierReader, run *landfall.Run) (landfall.PauseReason, error) {
	supplier, err := supplierFor(ctx, view, run.ActsFor.Organisation, run.Plan.Supplier)
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

// advance takes a run on to its next state, if it is time.
func (d *Desk) advance(ctx context.Context, tx landfall.Tx, run *landfall.Run) (*landfall.Event, error) {
	if run.State == landfall.RunWaiting && run.Chosen && run.Due() && !run.Stopping() {
		return run.Start(), nil
	}
	if run.Stopping() {
		if resting, err := tx.RunIdle(ctx, run.ID); err != nil || !resting {
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
	// Somebody may have settled accounts since the run was read, and its event
	// tells the sums.
	latest, err := tx.Run(ctx, run.ID)
	if err != nil {
		return nil, err
	}
	if run.Tally = latest.Tally; done {
		return run.Finish(), nil // even if it was to stop: nothing was left to be stopped
	}
	return run.CompleteStop(), nil
}
