package operate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"landfall"
	"landfall/internal/api/rules"
)

// StartRun starts a run, in which the service creates a supplier's staged
// accounts. The run is the operator's and belongs to no API key.
func (o *Operator) StartRun(ctx context.Context, plan landfall.RunPlan) (landfall.Run, error) {
	if err := checkPlan(plan); err != nil {
		return landfall.Run{}, err
	}
	var run landfall.Run
	err := o.changeNew(ctx, "run.start", func(tx landfall.Tx) (_, detail string, err error) {
		if err := o.permitChange(ctx, tx, "run.start", plan.Supplier); err != nil {
			return "", "", err
		}
		supplier, err := tx.Supplier(ctx, plan.Supplier)
		if err != nil {
			return "", "", supplierError(ctx, tx, plan.Supplier, err)
		}
		if supplier.Status != landfall.Ongoing {
			return "", "", landfall.Refuse(landfall.CodeSupplierNotOngoing, fmt.Sprintf("%s is %s. Set it to Ongoing first.", plan.Supplier, supplier.Status))
		}
		if _, err := tx.Team(ctx, plan.Team); err != nil {
			return "", "", replaceError(err, landfall.ErrNotFound, invalid("team", landfall.CodeTeamUnknown, "There is no operations team %q.", plan.Team))
		}
		run, err = tx.CreateRun(ctx, landfall.Run{Plan: plan})
		switch {
		case errors.Is(err, landfall.ErrExists):
			return "", "", landfall.Refuse(landfall.CodeRunActive, fmt.Sprintf("Run %s of this supplier has not ended. Cancel it or wait for it.", run.ID))
		// This rolls the transaction back, and the new run with it.
		case err == nil && run.WindowOver():
			return "", "", invalid("not_after", rules.CodeOutOfRange, "The end of the window has already passed.")
		}
		return run.ID, describeRun(run), err
	})
	return run, err
}

// checkPlan refuses a plan that no run could follow.
func checkPlan(plan landfall.RunPlan) error {
	switch {
	case !slices.Contains(landfall.RunSelections, plan.Select):
		return invalid("select", rules.CodeInvalidChoice, "Selection %q is not known; use one of %s.", string(plan.Select), join(landfall.RunSelections))
	case plan.Sample < 0 || plan.Sample == 1 || plan.Sample > maxQuota:
		return invalid("sample", rules.CodeOutOfRange, "The sample must be 2 to %d, or 0 for all accounts.", maxQuota)
	case plan.Limit < 0:
		return invalid("limit", rules.CodeOutOfRange, "The limit must be 1 or more, or 0 for none.")
	case plan.Concurrency < 0 || plan.Concurrency > 10_000:
		return invalid("at_once", rules.CodeOutOfRange, "The number of accounts created at once must be 1 to 10000, or 0 to let the service decide.")
	case !plan.NotAfter.IsZero() && !plan.NotAfter.After(plan.NotBefore):
		return invalid("not_after", rules.CodeOutOfRange, "The window ends before it begins.")
	}
	return nil
}

// describeRun describes a run's plan for the audit: everything that decides
// which accounts it touches.
func describeRun(run landfall.Run) string {
	plan := run.Plan
	return fmt.Sprintf("%s, team=%q, %s, dry_run=%t, sample=%d, limit=%d", plan.Supplier, plan.Team, plan.SelectionText(), plan.DryRun, plan.Sample, plan.Limit)
}

// PauseRun pauses a run. Accounts being created are finished first.
func (o *Operator) PauseRun(ctx context.Context, id string) (landfall.Run, error) {
	return o.changeRun(ctx, "run.pause", id, func(_ landfall.Tx, run *landfall.Run) error { return run.RequestPause() })
}

// ResumeRun continues a paused run, from now on in the operator's name.
func (o *Operator) ResumeRun(ctx context.Context, id string) (landfall.Run, error) {
	return o.changeRun(ctx, "run.resume", id, func(tx landfall.Tx, run *landfall.Run) error {
		if err := run.RequestResume(landfall.Author{}); err != nil {
			return err
		}
		supplier, err := tx.Supplier(ctx, run.Plan.Supplier)
		if err == nil && supplier.Status != landfall.Ongoing {
			err = landfall.Refuse(landfall.CodeSupplierNotOngoing, fmt.Sprintf("%s is %s. Set it to Ongoing first.", supplier.Code, supplier.Status))
		}
		return err
	})
}

// CancelRun ends a run for good. Accounts being created are finished first.
func (o *Operator) CancelRun(ctx context.Context, id string) (landfall.Run, error) {
	return o.changeRun(ctx, "run.cancel", id, func(_ landfall.Tx, run *landfall.Run) error { return run.RequestCancel() })
}

func (o *Operator) changeRun(ctx context.Context, action, id string, how func(landfall.Tx, *landfall.Run) error) (run landfall.Run, err error) {
	err = o.change(ctx, action, id, func(tx landfall.Tx) (string, error) {
		if run, err = tx.Run(ctx, id); err != nil {
			return "", replaceError(err, landfall.ErrNotFound, noRun(id))
		}
		if err := how(tx, &run); err != nil {
			return "", err
		}
		return run.Plan.Supplier, tx.SaveRun(ctx, run)
	})
	return run, err
}

// noRun suggests no similar id, since ids of runs are random.
func noRun(id string) *landfall.Error {
	return notFound(landfall.CodeRunNotFound, "There is no run %q.", id)
}

// RunFacts is everything an operator sees about a run.
type RunFacts struct {
	landfall.Run
	Acts    RunActs
	Samples []landfall.RunSample
	Still   time.Duration            // how long it has finished nothing; 0 while it makes progress
	Failed  []landfall.FailedProcess // the first accounts that failed
}

// RunActs is who did what with a run, according to the audit.
type RunActs struct {
	StartedBy             string // "" if a key started it
	PausedBy, CancelledBy string // "" if no operator did
	UndoneBy, UndoReason  string
	PausedAt, UndoneAt    time.Time
}

// runActs reads the acts of operators on a run. There are as many as times somebody
// pressed a button.
func runActs(ctx context.Context, view landfall.View, run landfall.Run) (acts RunActs, err error) {
	entries, err := view.Audit(ctx, run.ID)
	for _, entry := range entries {
		switch entry.Action {
		case "run.start":
			acts.StartedBy = entry.Actor
		case "run.pause":
			acts.PausedBy, acts.PausedAt = entry.Actor, entry.At
		case "run.resume":
			acts.PausedBy, acts.PausedAt = "", time.Time{}
		case "run.cancel":
			acts.CancelledBy = entry.Actor
		case "run.undo":
			acts.UndoneBy, acts.UndoReason, acts.UndoneAt = entry.Actor, entry.Detail, entry.At
		}
	}
	return acts, err
}

// RunCauses groups the failures of a run by cause.
func (o *Operator) RunCauses(ctx context.Context, id string, progress func(looked int)) (landfall.FailureSummary, error) {
	var tally landfall.FailureTally
	looked := 0
	for failed, err := range o.store.RunFailures(ctx, landfall.RunFailureQuery{Run: id}) {
		if err != nil {
			return landfall.FailureSummary{}, storeError("run.show", err)
		}
		tally.AddAccount(failed.External, failed.Failure)
		if looked++; looked%progressEvery == 0 {
			progress(looked)
		}
	}
	return tally.Summary(), nil
}

// runSpan is how far back the throughput of a run is shown.
const runSpan = 2 * time.Hour

// ShowRun returns a run, its throughput, and the first accounts that failed in
// it.
func (o *Operator) ShowRun(ctx context.Context, id string, failures int) (facts RunFacts, err error) {
	err = o.view(ctx, "run.show", func(view landfall.View) (err error) {
		if facts.Run, err = view.Run(ctx, id); err != nil {
			return replaceError(err, landfall.ErrNotFound, noRun(id))
		}
		if facts.Acts, err = runActs(ctx, view, facts.Run); err != nil {
			return err
		}
		// Show the last hours of an ended run, not the empty ones since.
		last := facts.ReadAt
		if !facts.EndedAt.IsZero() {
			last = facts.EndedAt
		}
		facts.Samples, err = view.RunSamples(ctx, id, last.Add(-runSpan))
		facts.Still = facts.StalledFor(facts.Samples)
		return err
	})
	if err != nil || failures == 0 || facts.Tally.Failed == 0 || !facts.PurgedAt.IsZero() {
		return facts, err
	}
	for failed, err := range o.store.RunFailures(ctx, landfall.RunFailureQuery{Run: id, Limit: failures}) {
		if err != nil {
			return facts, storeError("run.show", err)
		}
		facts.Failed = append(facts.Failed, failed)
	}
	return facts, nil
}

// Runs returns the newest runs of a supplier.
func (o *Operator) Runs(ctx context.Context, code string, most int) (runs []landfall.Run, err error) {
	err = o.view(ctx, "run.list", func(view landfall.View) (err error) {
		runs, err = view.Runs(ctx, landfall.RunQuery{Supplier: code, Limit: most})
		return err
	})
	return runs, err
}

// RunEntry is a run in a list.
type RunEntry struct {
	landfall.Run
	Acts RunActs // of a run that was undone
}

// RunEntries returns the newest runs of a supplier, and who undid them.
func (o *Operator) RunEntries(ctx context.Context, code string, most int) (entries []RunEntry, err error) {
	err = o.view(ctx, "run.list", func(view landfall.View) error {
		runs, err := view.Runs(ctx, landfall.RunQuery{Supplier: code, Limit: most})
		entries = make([]RunEntry, len(runs))
		for i, run := range runs {
			entries[i].Run = run
			if run.Undone > 0 && err == nil {
				entries[i].Acts, err = runActs(ctx, view, run)
			}
		}
		return err
	})
	return entries, err
}
