package intake

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/service/ledger"
)

// Attempt is one try to create one account, holding its claim.
type Attempt struct {
	Claim    landfall.Claim
	service  *Service
	who      landfall.Principal
	supplier landfall.Supplier
	warnings []landfall.Violation // of the rules about the staged data
	run      string               // "" for none

	identifiers []landfall.Identifier // that other accounts may have
}

// NewAttempt returns an attempt to create the account of a claim, in a run or
// with "" in none.
func (s *Service) NewAttempt(who landfall.Principal, supplier landfall.Supplier, claim landfall.Claim, run string) Attempt {
	return Attempt{service: s, who: who, Claim: claim, supplier: supplier, run: run}
}

// errDryRun ends a dry run that would have succeeded.
var errDryRun = landfall.Refuse(landfall.CodeDryRunRolledBack,
	"The account would successfully import. It was rolled back due to the dry run.")

// errInterrupted is recorded for an attempt that panicked.
var errInterrupted = errors.New("the attempt was interrupted by an internal error")

// finish runs the attempt and always ends the claim. It answers only after the
// attempt was recorded, so that callers can look up what they were told.
func (a *Attempt) finish(ctx context.Context) (created Created, err error) {
	// If the attempt panics, this is recorded, and the claim is released.
	reason := errInterrupted
	defer func() {
		if failed := a.release(ctx, reason); failed != nil {
			created, err = Created{}, a.explain(ctx, failed)
		}
	}()
	var outcome landfall.CreateOutcome
	outcome, reason = a.create(ctx)
	if reason != nil {
		return Created{}, a.explain(ctx, reason)
	}
	return Created{outcome, a.warnings, a.identifiers}, nil
}

// explain turns the reason why an attempt ended into what its caller sees.
func (a *Attempt) explain(ctx context.Context, reason error) error {
	if errors.Is(reason, landfall.ErrFenced) {
		return a.explainLoss(ctx)
	}
	return userError(reason)
}

// explainLoss returns the state of a process whose claim was lost because its
// lease had ended.
func (a *Attempt) explainLoss(ctx context.Context) error {
	var process landfall.Process
	// An Update, not a View: the answer that the account exists is a promise, and
	// only a commit of its own makes it as durable as the account.
	err := a.service.store.For(a.who.Caller()).Update(ctx, func(tx landfall.Tx) (err error) {
		process, err = tx.Process(ctx, a.Claim.Key)
		return err
	})
	if err != nil {
		return userError(err)
	}
	switch process.State {
	case landfall.Imported:
		return alreadyImported(a.Claim.Key, process.AccountNumber)
	case landfall.Skipped:
		return errMarkedAsSkipped
	case landfall.Claimed:
		return importInProgress(a.service.lease)
	}
	return errAttemptExpired
}

// errAttemptExpired is returned when the claim was lost and the account is free
// again.
var errAttemptExpired = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitRetryAfter,
	Detail: "The attempt took too long and was given up. Send the same request again.",
}

// create takes the steps of the attempt one after the other. Only the last one
// writes; whatever ends it before that releases the claim.
func (a *Attempt) create(ctx context.Context) (landfall.CreateOutcome, error) {
	now := a.service.now()
	data, err := a.Check(ctx, now)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	if err := a.verifyRenewing(ctx, &data); err != nil {
		return landfall.CreateOutcome{}, err
	}
	creation, err := a.Creation(data, now)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	outcome, err := a.service.store.For(a.who.Caller()).Create(ctx, creation)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	switch outcome.Verdict {
	case landfall.Created:
		return outcome, nil
	case landfall.CreateRolledBack:
		return landfall.CreateOutcome{}, errDryRun
	case landfall.CreateFenced:
		return landfall.CreateOutcome{}, landfall.ErrFenced
	case landfall.CreateNoSupplier:
		return landfall.CreateOutcome{}, ErrSupplierNotOngoing
	case landfall.CreateDuplicate:
		return landfall.CreateOutcome{}, a.RefuseConflicts(ctx, outcome.Conflicts)
	}
	return landfall.CreateOutcome{}, fmt.Errorf("unknown create verdict %d", outcome.Verdict)
}

// Check applies the rules to the staged data again: the rules or their
// severities may be newer than the staging.
func (a *Attempt) Check(ctx context.Context, now time.Time) (landfall.AccountData, error) {
	schema, err := a.service.schema(ctx, &a.supplier)
	if err != nil {
		return landfall.AccountData{}, userError(err)
	}
	account, err := schema.ReadAccount(ctx, a.Claim.Document)
	if err != nil {
		return landfall.AccountData{}, err
	}
	defer account.Release()
	verdict := account.Check(&a.supplier, now)
	if err := verdict.Err(); err != nil {
		return landfall.AccountData{}, err
	}
	a.warnings, a.identifiers = verdict.Warnings, account.Identifiers(&a.supplier)
	return account.Data(), nil
}

// Creation builds the account that is written. Data that was staged with the
// account is treated like data that is posted later.
func (a *Attempt) Creation(data landfall.AccountData, now time.Time) (landfall.Creation, error) {
	account, conflict := ledger.NewAccount(data, a.supplier, now)
	switch {
	case conflict.Statement >= 0:
		return landfall.Creation{}, refuseStatement(conflict.Statement)
	case conflict.Instruction >= 0:
		return landfall.Creation{}, refuseInstruction(fmt.Sprintf("payment_instructions.%d.", conflict.Instruction), conflict.Fields)
	}
	account.Key, account.Revision, account.Team, account.Packs = a.Claim.Key, a.Claim.Revision, a.Claim.Team, a.supplier.Packs
	creation := landfall.Creation{
		Claim: a.Claim, By: a.who.Author(), Run: a.run,
		Account: account,
	}
	for _, one := range a.identifiers {
		if one.Unique {
			creation.Unique = append(creation.Unique, one)
		}
	}
	if a.supplier.SendCustomerEmails {
		creation.Mails = migrationMails(account.Data, max(a.service.mailDelay, a.supplier.MailDelay))
	}
	return creation, nil
}

// migrationMails returns one mail for every customer address, ignoring case.
// Addresses of deceased customers get none: relatives who read them must not
// receive an automatic greeting in the name of the deceased.
func migrationMails(data landfall.AccountData, delay time.Duration) []landfall.Mail {
	var mails []landfall.Mail
	for _, customer := range data.Customers {
		to := customer.Email
		known := slices.ContainsFunc(mails, func(mail landfall.Mail) bool { return strings.EqualFold(mail.To, to) })
		deceased := slices.ContainsFunc(data.Customers, func(other landfall.Customer) bool {
			return other.Deceased && strings.EqualFold(other.Email, to)
		})
		if to != "" && !known && !deceased {
			mails = append(mails, landfall.Mail{Kind: landfall.MailMigrated, To: to, Language: data.Language, Delay: delay})
		}
	}
	return mails
}

// release ends the claim and records why the attempt ended, or returns why that
// could not be recorded. A claim that was lost, or whose account may exist after
// all, is left to its lease: writing about it could contradict another attempt. A
// success has nothing left to release.
func (a *Attempt) release(ctx context.Context, reason error) error {
	if reason == nil || errors.Is(reason, errDryRun) ||
		errors.Is(reason, landfall.ErrFenced) || errors.Is(reason, landfall.ErrUnknownOutcome) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.ReleaseClaim)
	defer cancel()
	failed := a.Failed(reason)
	for {
		err := a.service.store.For(a.who.Caller()).Release(ctx, a.Claim, failed)
		// Nothing was tried. A claim that stays would be in the way until its lease
		// ends, of this account and of others under the limit.
		if !errors.Is(err, landfall.ErrOverloaded) {
			return err
		}
		select {
		case <-time.After(limits.RecordRetry):
		case <-ctx.Done():
			return err
		}
	}
}

// Failed returns what is recorded of an attempt that ended without an account.
func (a *Attempt) Failed(reason error) landfall.Attempt {
	failed := landfall.Event{Type: landfall.EventImportFailed, Key: a.Claim.Key}
	if a.Claim.DryRun {
		failed.Type = landfall.EventDryRunFailed
	}
	shown := userError(reason)
	failed.Details = map[string]string{"code": shown.Code}
	if a.run != "" {
		failed.Details["run"] = a.run
	}
	return landfall.Attempt{Event: failed, By: a.who.Author(), Failure: &landfall.Failure{
		Code: shown.Code, Detail: shown.Detail, Violations: withoutOthers(shown.Violations), DryRun: a.Claim.DryRun,
	}}
}
