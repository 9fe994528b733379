package console

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/intake"
)

// createForm is what somebody wants to know before he creates an account.
type createForm struct {
	Teams           []landfall.Team
	Team            string // of the supplier's last run: it is likely this one's too
	EmailsCustomers bool
	UndoWindow      time.Duration
}

// createForm asks for the team of the last run only as what the field begins with: whoever creates
// the account may choose another.
func (r *pageRequest) createForm(supplier landfall.Supplier) (createForm, error) {
	found := createForm{EmailsCustomers: supplier.SendCustomerEmails, UndoWindow: supplier.UndoWindow}
	runs, err := r.operator().Runs(r.Context(), supplier.Code, 1)
	if err != nil {
		return found, err
	}
	// There is at most one, and none before the first run: the field begins empty then.
	for _, last := range runs {
		found.Team = last.Plan.Team
	}
	found.Teams, err = r.operator().Teams(r.Context())
	return found, err
}

// attemptTimeout bounds an attempt to create an account. It leaves a page enough
// time to say what came of it.
const attemptTimeout = pageTimeout * 3 / 4

// dryRunAccount tries whether an account could be created.
func dryRunAccount(r *pageRequest) (any, error) {
	// What the attempt would have created is of no interest here: it was rolled back.
	if _, err := r.attempt(true); err != nil {
		return nil, err
	}
	return redirect{accountPath(r.accountKey()), "The dry run passed: the account can be created. Nothing was created."}, nil
}

// processAccount creates an account. It can be undone for a while, so that a tick is
// enough to confirm it.
func processAccount(r *pageRequest) (any, error) {
	if r.formValue("confirm") == "" {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "Tick the box to confirm. Nothing was done.")
	}
	created, err := r.attempt(false)
	if err != nil {
		return nil, err
	}
	say := fmt.Sprintf("The account %s was created for %s.", created.Number, r.formValue("team"))
	if count := len(created.Warnings); count > 0 {
		warnings, _ := plural(count, "warning", "warnings") // of a number
		say += " There were " + warnings + " about its data."
	}
	return redirect{accountPath(r.accountKey()), say}, nil
}

// attempt tries to create an account in the name of who is signed in.
func (r *pageRequest) attempt(dryRun bool) (intake.Created, error) {
	ctx, cancel := context.WithTimeout(r.Context(), attemptTimeout)
	defer cancel()
	created, err := r.console.Intake.ProcessAs(ctx, r.actor(), r.console.ClientAddress(r.Request).String(),
		contract.ProcessRequest{Key: r.accountKey(), Team: r.formValue("team"), DryRun: dryRun})
	if refusal, known := errors.AsType[*landfall.Error](err); known {
		// What is wrong with the data is kept with the attempt, and the page
		// lists it there already.
		// A copy, because the refusal may be held by others who still want its violations.
		once := *refusal
		once.Violations = nil
		err = &once
	}
	return created, err
}
