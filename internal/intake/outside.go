package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
)

// askOutside asks everybody outside the database about the account's inline
// data: the file store about documents, vendors about payment instructions. The
// claim is renewed meanwhile, since none of them is in a hurry.
func (a *attempt) askOutside(ctx context.Context, data *landfall.AccountData) error {
	documents := append(notePaths("notes", data.Notes), statementPaths(data.Statements)...)
	if len(data.Instructions) == 0 && (len(documents) == 0 || !a.supplier.VerifyDocuments) {
		return nil
	}
	ctx, done := a.keepClaim(ctx)
	defer done()
	if err := a.desk.checkDocuments(ctx, a.supplier, documents); err != nil {
		return err
	}
	for i, instruction := range data.Instructions {
		details, err := a.desk.verify(ctx, instruction)
		if err != nil {
			return inside(fmt.Sprintf("payment_instructions.%d.", i), err)
		}
		data.Instructions[i].Details = details
	}
	return nil
}

// keepClaim renews the claim until done is called. When the claim is lost the
// context ends: whatever is being asked is no longer of interest.
func (a *attempt) keepClaim(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		every := time.NewTicker(a.claim.Lease / 3)
		defer every.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-every.C:
			}
			if err := a.desk.store.Renew(ctx, a.claim); errors.Is(err, landfall.ErrFenced) {
				cancel(landfall.ErrFenced)
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-stopped
	}
}

// inside puts the path of a list item in front of the attrs of a refusal.
func inside(prefix string, err error) error {
	var refusal *landfall.Error
	if !errors.As(err, &refusal) || len(refusal.Violations) == 0 {
		return err
	}
	moved := *refusal
	moved.Violations = make([]landfall.Violation, len(refusal.Violations))
	for i, violation := range refusal.Violations {
		violation.Attr = prefix + violation.Attr
		moved.Violations[i] = violation
	}
	return &moved
}
