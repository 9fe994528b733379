package run

import (
	"context"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/service/intake"
)

const (
	// stopTimeout is how long Pause and Cancel wait until the accounts in progress
	// are created. After that they return the run as it is, and it stops by itself.
	stopTimeout      = limits.RunStopWait
	stopPollInterval = limits.RunStopPoll
)

// Pause stops a run for now. Accounts in progress are finished first.
func (r *Runner) Pause(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := r.change(ctx, who, "run.pause", id, func(_ landfall.Tx, run *landfall.Run) error { return run.RequestPause() })
	if err != nil {
		return landfall.Run{}, err
	}
	return r.waitStopped(ctx, run)
}

// Cancel ends a run for good. Accounts in progress are finished first.
func (r *Runner) Cancel(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := r.change(ctx, who, "run.cancel", id, func(_ landfall.Tx, run *landfall.Run) error { return run.RequestCancel() })
	if err != nil {
		return landfall.Run{}, err
	}
	return r.waitStopped(ctx, run)
}

// Resume continues a paused run, from now on in the name of the caller.
func (r *Runner) Resume(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := r.change(ctx, who, "run.resume", id, func(tx landfall.Tx, run *landfall.Run) error {
		if err := run.RequestResume(who.Author()); err != nil {
			return err
		}
		supplier, err := tx.Supplier(ctx, run.Plan.Supplier)
		if err != nil {
			return err
		}
		if supplier.Status != landfall.Ongoing {
			return intake.ErrSupplierNotOngoing
		}
		return nil
	})
	r.Wake()
	return run, err
}

// change changes a run of a supplier that the caller was granted.
func (r *Runner) change(
	ctx context.Context, who landfall.Principal, action, id string, apply func(landfall.Tx, *landfall.Run) error,
) (landfall.Run, error) {
	var run landfall.Run
	err := r.store.For(who.Caller()).Update(ctx, func(tx landfall.Tx) (err error) {
		if err := tx.CheckAuthor(ctx, who.Author()); err != nil {
			return err
		}
		if run, err = grantedRun(ctx, tx, who, id); err != nil {
			return err
		}
		before := run
		if err := apply(tx, &run); err != nil || run.Equal(before) {
			return err
		}
		if err := tx.SaveRun(ctx, run); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, who.Audit(action, run.ID, run.Plan.Supplier))
	})
	if err != nil {
		return landfall.Run{}, userError(err)
	}
	intake.NoteSupplier(ctx, run.Plan.Supplier)
	return run, nil
}

// waitStopped waits a while until a run that was asked to stop has stopped.
func (r *Runner) waitStopped(ctx context.Context, run landfall.Run) (landfall.Run, error) {
	r.Wake()
	for end := time.Now().Add(stopTimeout); ; {
		current, err := r.AdvanceRun(ctx, run.ID)
		if err != nil {
			return landfall.Run{}, userError(err)
		}
		if current.State.Ended() || current.State == landfall.RunPaused || !current.Stopping() || time.Now().After(end) {
			return current, nil
		}
		select {
		case <-time.After(stopPollInterval):
		case <-ctx.Done():
			return current, nil
		}
	}
}
