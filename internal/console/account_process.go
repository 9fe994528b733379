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

// creatable is what somebody wants to know before he creates an account.
type creatable struct {
	Teams          []landfall.Team
	Team           string // of the supplier's last run: it is likely this one's too
	TellsCustomers bool
	UndoWindow     time.Duration
}

// creatable asks for the team of the last run only as what the field begins with: whoever creates
// the account may choose another.
func (v *visit) creatable(supplier landfall.Supplier) (creatable, error) {
	found := creatable{TellsCustomers: supplier.SendCustomerEmails, UndoWindow: supplier.UndoWindow}
	runs, err := v.operator().Runs(v.ctx(), supplier.Code, 1)
	if err != nil {
		return found, err
	}
	// There is at most one, and none before the first run: the field begins empty then.
	for _, last := range runs {
		found.Team = last.Plan.Team
	}
	found.Teams, err = v.operator().Teams(v.ctx())
	return found, err
}

// attemptTime bounds an attempt to create an account. It leaves a page enough
// time to say what came of it.
const attemptTime = pageTime * 3 / 4

// dryRun tries whether an account could be created.
func dryRun(v *visit) (any, error) {
	// What the attempt would have created is of no interest here: it was rolled back.
	if _, err := v.attempt(true); err != nil {
		return nil, err
	}
	return done{accountPath(v.key()), "The dry run passed: the account can be created. Nothing was created."}, nil
}

// process creates an account. It can be undone for a while, so that a tick is
// enough to confirm it.
func process(v *visit) (any, error) {
	if v.typed("confirm") == "" {
		return nil, landfall.Refuse(landfall.CodeValidationFailed, "Tick the box to confirm. Nothing was done.")
	}
	created, err := v.attempt(false)
	if err != nil {
		return nil, err
	}
	say := fmt.Sprintf("The account %s was created for %s.", created.Number, v.typed("team"))
	if count := len(created.Warnings); count > 0 {
		warnings, _ := plural(count, "warning", "warnings") // of a number
		say += " There were " + warnings + " about its data."
	}
	return done{accountPath(v.key()), say}, nil
}

// attempt tries to create an account in the name of who is signed in.
func (v *visit) attempt(dryRun bool) (intake.Created, error) {
	ctx, cancel := context.WithTimeout(v.ctx(), attemptTime)
	defer cancel()
	created, err := v.console.Desk.ProcessAs(ctx, v.actor(), v.console.ClientAddress(v.Request).String(),
		contract.ProcessRequest{Key: v.key(), Team: v.typed("team"), DryRun: dryRun})
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
