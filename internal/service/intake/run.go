package intake

import (
	"context"
	"errors"
	"iter"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// restPatience is how long a caller who stops a run waits for what is being
// created to be finished; then he is told how the run stands, and it stops by
// itself.
const (
	restPatience = 5 * time.Second
	restEvery    = 50 * time.Millisecond
)

// StartRun lets the service create a supplier's staged accounts by itself.
func (d *Desk) StartRun(ctx context.Context, who landfall.Principal, plan landfall.RunPlan) (landfall.Run, error) {
	var run landfall.Run
	err := d.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.CheckAuthor(ctx, who.Author()); err != nil {
			return err
		}
		supplier, err := tx.GrantedSupplier(ctx, who.Organisation, plan.Supplier)
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			return refuseField("import_supplier_code", landfall.CodeSupplierUnknown, "There is no import supplier with this code.")
		case err != nil:
			return err
		case supplier.Status != landfall.Ongoing:
			return errSupplierNotOngoing
		}
		if _, err := tx.Team(ctx, plan.Team); errors.Is(err, landfall.ErrNotFound) {
			return refuseField("operations_team_name", landfall.CodeTeamUnknown, "There is no operations team with this name.")
		} else if err != nil {
			return err
		}
		run, err = tx.CreateRun(ctx, landfall.Run{Plan: plan, CreatedBy: who.Author()})
		if errors.Is(err, landfall.ErrExists) {
			return alreadyActive(run.ID)
		}
		if err == nil && run.WindowOver() {
			return windowOver()
		}
		if err != nil {
			return err
		}
		return tx.AppendAudit(ctx, who.Audit("run.start", run.ID, plan.Supplier))
	})
	if err != nil {
		return landfall.Run{}, trouble(err)
	}
	d.note(ctx, plan.Supplier)
	d.wake()
	return run, nil
}

// windowOver refuses a run that could never begin.
func windowOver() error {
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The request is not valid.")
	refusal.Violations = []landfall.Violation{{Code: rules.CodeOutOfRange, Attr: "not_after", Detail: "This time has passed already."}}
	return refusal
}

// alreadyActive names the run that is in the way.
func alreadyActive(id string) error {
	refusal := landfall.Refuse(landfall.CodeRunActive, "This import supplier has a run that has not ended.")
	refusal.Members = []landfall.Member{{Name: "id", Value: id}}
	return refusal
}

// A run of somebody else is one that is not there.
var (
	errRunUnknown = &landfall.Error{Kind: landfall.NotFound, Code: landfall.CodeRunNotFound, Detail: "There is no run with this id."}
	errRunEnded   = landfall.Refuse(landfall.CodeRunEnded, "This run has ended.")
)

// Run tells how a run stands. One of a supplier that was not granted is one
// that does not exist.
func (d *Desk) Run(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	var run landfall.Run
	err := d.store.View(ctx, func(view landfall.View) (err error) {
		run, err = grantedRun(ctx, view, who, id)
		return err
	})
	if err != nil {
		return landfall.Run{}, trouble(err)
	}
	d.note(ctx, run.Plan.Supplier)
	return run, nil
}

// grantedRun finds a run and asks for its supplier's grant anew each time, since a
// grant may be taken away while the run goes on.
func grantedRun(ctx context.Context, view landfall.View, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := view.Run(ctx, id)
	if err == nil {
		_, err = view.GrantedSupplier(ctx, who.Organisation, run.Plan.Supplier)
	}
	if errors.Is(err, landfall.ErrNotFound) {
		err = errRunUnknown
	}
	return run, err
}

// note writes down whom a call was about, for the log.
func (d *Desk) note(ctx context.Context, supplier string) {
	if about, is := ctx.Value(aboutKey{}).(*About); is {
		about.Supplier = supplier
	}
}

// runPage is how many runs are read at a time.
const runPage = 50

// Runs streams a supplier's runs, newest first.
func (d *Desk) Runs(ctx context.Context, who landfall.Principal, query landfall.RunQuery) (iter.Seq2[landfall.Run, error], error) {
	if err := d.mustKnow(ctx, who, query.Supplier); err != nil {
		return nil, err
	}
	left := query.Limit
	return func(yield func(landfall.Run, error) bool) {
		for query.Limit == 0 || left > 0 {
			page := query
			if page.Limit = runPage; query.Limit > 0 {
				page.Limit = min(left, runPage)
			}
			var runs []landfall.Run
			err := d.store.View(ctx, func(view landfall.View) (err error) {
				runs, err = view.Runs(ctx, page)
				return err
			})
			if err != nil {
				yield(landfall.Run{}, trouble(err))
				return
			}
			for _, run := range runs {
				if !yield(run, nil) {
					return
				}
				query.After = run.ID
			}
			if left -= len(runs); len(runs) < page.Limit {
				return
			}
		}
	}, nil
}

// RunFailures streams the accounts that failed in a run.
func (d *Desk) RunFailures(
	ctx context.Context, who landfall.Principal, query landfall.RunFailureQuery,
) (iter.Seq2[landfall.FailedProcess, error], error) {
	if _, err := d.Run(ctx, who, query.Run); err != nil {
		return nil, err
	}
	return untroubled(d.store.RunFailures(ctx, query)), nil
}

// PauseRun stops a run for now. What is being created is finished first.
func (d *Desk) PauseRun(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := d.changeRun(ctx, who, "run.pause", id, func(_ landfall.Tx, run *landfall.Run) error {
		if run.State.Ended() || run.Cancel {
			return errRunEnded
		}
		run.Pause(landfall.PauseRequested)
		return nil
	})
	if err != nil {
		return landfall.Run{}, err
	}
	return d.untilAtRest(ctx, run)
}

// CancelRun ends a run for good. What is being created is finished first.
func (d *Desk) CancelRun(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := d.changeRun(ctx, who, "run.cancel", id, func(_ landfall.Tx, run *landfall.Run) error {
		if run.State == landfall.RunFinished {
			return errRunEnded
		}
		run.Cancel = true
		return nil
	})
	if err != nil {
		return landfall.Run{}, err
	}
	return d.untilAtRest(ctx, run)
}

// ResumeRun lets a paused run go on, from now on in the name of whoever says
// so. A window that is over is open again: somebody has looked at it.
func (d *Desk) ResumeRun(ctx context.Context, who landfall.Principal, id string) (landfall.Run, error) {
	run, err := d.changeRun(ctx, who, "run.resume", id, func(tx landfall.Tx, run *landfall.Run) error {
		if run.State.Ended() || run.Cancel {
			return errRunEnded
		}
		supplier, err := tx.Supplier(ctx, run.Plan.Supplier)
		if err != nil {
			return err
		}
		if supplier.Status != landfall.Ongoing {
			return errSupplierNotOngoing
		}
		if run.Reason == "" {
			return nil // nobody stopped it
		}
		if run.WindowOver() {
			run.Plan.NotAfter = time.Time{}
		}
		run.ActsFor = who.Author()
		run.Resume()
		return nil
	})
	d.wake()
	return run, err
}

// changeRun changes a run that the caller was granted.
func (d *Desk) changeRun(
	ctx context.Context, who landfall.Principal, action, id string, how func(landfall.Tx, *landfall.Run) error,
) (landfall.Run, error) {
	var run landfall.Run
	err := d.store.Update(ctx, func(tx landfall.Tx) (err error) {
		if err := tx.CheckAuthor(ctx, who.Author()); err != nil {
			return err
		}
		if run, err = grantedRun(ctx, tx, who, id); err != nil {
			return err
		}
		before := run
		if err := how(tx, &run); err != nil || run == before {
			return err
		}
		if err := tx.SaveRun(ctx, run); err != nil {
			return err
		}
		return tx.AppendAudit(ctx, who.Audit(action, run.ID, run.Plan.Supplier))
	})
	if err != nil {
		return landfall.Run{}, trouble(err)
	}
	d.note(ctx, run.Plan.Supplier)
	return run, nil
}

// untilAtRest waits a while for a run that was stopped to stand still.
func (d *Desk) untilAtRest(ctx context.Context, run landfall.Run) (landfall.Run, error) {
	d.wake()
	for end := time.Now().Add(restPatience); ; {
		rested, err := d.TendRun(ctx, run.ID)
		if err != nil {
			return landfall.Run{}, trouble(err)
		}
		if rested.State.Ended() || rested.State == landfall.RunPaused || !rested.Stopping() || time.Now().After(end) {
			return rested, nil
		}
		select {
		case <-time.After(restEvery):
		case <-ctx.Done():
			return rested, nil
		}
	}
}
