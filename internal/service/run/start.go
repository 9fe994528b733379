package run

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/service/intake"
)

// Start creates a run that creates a supplier's staged accounts in the
// background.
func (r *Runner) Start(ctx context.Context, who landfall.Principal, plan landfall.RunPlan) (landfall.Run, error) {
	var run landfall.Run
	err := r.store.For(who.Caller()).Update(ctx, func(tx landfall.Tx) error {
		if err := tx.CheckAuthor(ctx, who.Author()); err != nil {
			return err
		}
		supplier, err := tx.GrantedSupplier(ctx, who.Organisation, plan.Supplier)
		switch {
		case errors.Is(err, landfall.ErrNotFound):
			return landfall.RefuseField("import_supplier_code", landfall.CodeSupplierUnknown, "There is no import supplier with this code.")
		case err != nil:
			return err
		case supplier.Status != landfall.Ongoing:
			return intake.ErrSupplierNotOngoing
		}
		if _, err := tx.Team(ctx, plan.Team); errors.Is(err, landfall.ErrNotFound) {
			return landfall.RefuseField("operations_team_name", landfall.CodeTeamUnknown, "There is no operations team with this name.")
		} else if err != nil {
			return err
		}
		run, err = tx.CreateRun(ctx, landfall.Run{Plan: plan, CreatedBy: who.Author()})
		if errors.Is(err, landfall.ErrExists) {
			return refuseActive(run.ID)
		}
		if err == nil && run.WindowOver() {
			return refuseWindow()
		}
		if err != nil {
			return err
		}
		return tx.AppendAudit(ctx, who.Audit("run.start", run.ID, plan.Supplier+", "+run.Plan.SelectionText()))
	})
	if err != nil {
		return landfall.Run{}, userError(err)
	}
	intake.NoteSupplier(ctx, plan.Supplier)
	r.Wake()
	return run, nil
}

// refuseWindow refuses a run that could never begin.
func refuseWindow() error {
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The request is not valid.")
	refusal.Violations = []landfall.Violation{{Code: rules.CodeOutOfRange, Attr: "not_after", Detail: "This time has already passed."}}
	return refusal
}

// refuseActive names the run that has to end first.
func refuseActive(id string) error {
	refusal := landfall.Refuse(landfall.CodeRunActive, "This import supplier has a run that has not ended.")
	refusal.Members = []landfall.Member{{Name: "id", Value: id}}
	return refusal
}

// userError turns an error into what a caller sees.
func userError(err error) *landfall.Error { return landfall.UserError("run", err) }
