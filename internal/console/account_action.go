package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
	"landfall/internal/service/intake"
)

// skipAccount needs no confirmation: it can be unskipped.
func skipAccount(r *pageRequest) error {
	return r.operator().Skip(r.Context(), r.accountKey(), r.formValue("reason"))
}

func unskipAccount(r *pageRequest) error {
	return r.operator().Unskip(r.Context(), r.accountKey(), r.formValue("reason"))
}

func eraseAccount(r *pageRequest) error {
	_, err := r.operator().Erase(r.Context(), r.accountKey(), r.formValue("reason"))
	return err
}

func undoAccount(r *pageRequest) (any, error) {
	if err := r.requireConfirmation(r.accountKey().Supplier); err != nil {
		return nil, err
	}
	outcome, err := r.operator().Undo(r.Context(), r.accountKey(), r.formValue("reason"))
	return redirect{accountPath(r.accountKey()), fmt.Sprintf("Account %s undone. It is staged again and keeps its number.", outcome.Number)}, err
}

// createForm is what people need to know before they create an account.
type createForm struct {
	Teams           []landfall.Team
	Team            string // of the supplier's last run, as the default
	EmailsCustomers bool
	UndoWindow      time.Duration
}

func (r *pageRequest) createForm(supplier landfall.Supplier) (createForm, error) {
	form := createForm{EmailsCustomers: supplier.SendCustomerEmails, UndoWindow: supplier.UndoWindow}
	runs, err := r.operator().Runs(r.Context(), supplier.Code, 1)
	if err != nil {
		return form, err
	}
	if len(runs) > 0 {
		form.Team = runs[0].Plan.Team
	}
	form.Teams, err = r.operator().Teams(r.Context())
	return form, err
}

// attemptTimeout limits an attempt to create an account. It leaves time to render
// the page.
const attemptTimeout = limits.ConsolePage * 3 / 4

func dryRunAccount(r *pageRequest) (any, error) {
	_, err := r.attempt(true)
	return redirect{accountPath(r.accountKey()), "Dry run passed: the account can be created. Nothing was created."}, err
}

// processAccount creates an account. It can be undone for a while, so a checkbox
// is enough confirmation.
func processAccount(r *pageRequest) (any, error) {
	if r.formValue("confirm") == "" {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "Check the box to confirm. Nothing was done.")
	}
	created, err := r.attempt(false)
	if err != nil {
		return nil, err
	}
	message := fmt.Sprintf("Account %s created for %s.", created.Number, r.formValue("team"))
	if len(created.Warnings) > 0 {
		warnings, _ := plural(len(created.Warnings), "warning", "warnings") // an int
		message += " Its data has " + warnings + "."
	}
	return redirect{accountPath(r.accountKey()), message}, nil
}

// attempt tries to create an account under the name of the signed-in person.
func (r *pageRequest) attempt(dryRun bool) (intake.Created, error) {
	if err := r.operator().Permit(landfall.MayAct, r.accountKey().Supplier); err != nil {
		return intake.Created{}, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), attemptTimeout)
	defer cancel()
	from := r.origin()
	created, err := r.console.Intake.ProcessAs(ctx, landfall.Principal{Operator: r.actor(), Source: from.Address, RequestID: from.RequestID},
		contract.ProcessRequest{Key: r.accountKey(), Team: r.formValue("team"), DryRun: dryRun})
	if refusal, known := errors.AsType[*landfall.Error](err); known {
		// The account's last failure lists the violations already. Others may hold
		// the error, so change a copy.
		short := *refusal
		short.Violations = nil
		err = &short
	}
	return created, err
}
