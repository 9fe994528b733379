package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

// limitRetryAfter is how long somebody over the concurrency limit should wait:
// creating an account takes a moment, so a slot is free again soon.
const limitRetryAfter = time.Second

// releasePatience bounds the release of a claim, which is tried even when the
// caller has gone; failing that, the lease frees the process.
const releasePatience = 5 * time.Second

// Created is an account that came out of its staged data.
type Created struct {
	landfall.CreateOutcome
	Warnings []landfall.Violation // about the staged data
}

// Process creates an account from the staged data: claim, rules once more,
// questions to the outside, one creating transaction. Exactly one account can
// come out of one key, whoever else is trying; a failure gives the claim back
// and keeps its reason. A dry run walks the same way and is rolled back; it
// keeps nobody away from the account and waits for nobody.
func (d *Desk) Process(ctx context.Context, who landfall.Principal, request contract.ProcessRequest) (Created, error) {
	supplier, err := d.supplier(ctx, who, request.Key.Supplier)
	if err != nil {
		return Created{}, trouble(err)
	}
	if supplier == nil {
		return Created{}, refuseField("import_supplier_code", landfall.CodeSupplierUnknown,
			"There is no import supplier with this code.")
	}
	done, err := d.begin(who)
	if err != nil {
		return Created{}, err
	}
	defer done()
	// A dry run holds nothing, so that an account may be created or skipped under it and
	// wait again a moment later. Nobody was too slow then, and it tries again.
	for try := 1; ; try++ {
		created, err := d.attempt(ctx, who, request, *supplier)
		// This very error: others with its code are not about the account.
		told, _ := errors.AsType[*landfall.Error](err)
		if !request.DryRun || told != errGivenUp || try == mostRehearsals {
			return created, err
		}
	}
}

// mostRehearsals is how often a dry run is tried on an account that comes and goes.
const mostRehearsals = 3

// attempt asks for the claim of an account and tries to create it once.
func (d *Desk) attempt(
	ctx context.Context, who landfall.Principal, request contract.ProcessRequest, supplier landfall.Supplier,
) (Created, error) {
	claimed, err := d.store.Claim(ctx, landfall.ClaimRequest{
		Key: request.Key, Team: request.Team, Lease: d.lease, ServiceLimit: d.serviceLimit, DryRun: request.DryRun,
		By: who.Author(),
	})
	if err != nil {
		return Created{}, trouble(err)
	}
	if claimed.Verdict != landfall.ClaimGranted {
		return Created{}, refusedClaim(request.Key, claimed)
	}
	attempt := attempt{desk: d, who: who, claim: claimed.Claim, supplier: supplier}
	return attempt.settle(ctx)
}

// attempt is one try to create one account, holding its claim.
type attempt struct {
	desk     *Desk
	who      landfall.Principal
	claim    landfall.Claim
	supplier landfall.Supplier
	warnings []landfall.Violation // that the rules have about the staged data
	within   string               // a run; "" for none
}

// errDryRun is how a dry run that would have succeeded ends.
var errDryRun = landfall.Refuse(landfall.CodeDryRunRolledBack,
	"The account would successfully import. It was rolled back due to the dry run.")

// errInterrupted is the reason kept of an attempt that a fault of ours ended.
var errInterrupted = errors.New("the attempt did not end")

// settle runs the attempt and ends the claim with it, whatever happens. An
// answer that tells of an attempt is given only when its record is kept: what
// a caller was told can be looked up afterwards.
func (a *attempt) settle(ctx context.Context) (created Created, err error) {
	// Should the attempt panic, this is what is kept of it, and the claim is not left
	// to its lease.
	reason := errInterrupted
	defer func() {
		if unkept := a.giveBack(ctx, reason); unkept != nil {
			created, err = Created{}, a.explain(ctx, unkept)
		}
	}()
	var outcome landfall.CreateOutcome
	outcome, reason = a.run(ctx)
	if reason != nil {
		return Created{}, a.explain(ctx, reason)
	}
	return Created{outcome, a.warnings}, nil
}

// explain turns the end of an attempt into what its caller is told.
func (a *attempt) explain(ctx context.Context, reason error) error {
	if errors.Is(reason, landfall.ErrFenced) {
		return a.explainLoss(ctx)
	}
	return trouble(reason)
}

// explainLoss says what became of a process whose claim was lost: the lease
// had ended, and somebody else was free to do with it what he liked.
func (a *attempt) explainLoss(ctx context.Context) error {
	var process landfall.Process
	// An Update and not a View: to answer that the account is there is a
	// promise, and only a commit of our own makes it as durable as the account.
	err := a.desk.store.Update(ctx, func(tx landfall.Tx) (err error) {
		process, err = tx.Process(ctx, a.claim.Key)
		return err
	})
	if err != nil {
		return trouble(err)
	}
	switch process.State {
	case landfall.Imported:
		return alreadyImported(a.claim.Key, process.AccountNumber)
	case landfall.Skipped:
		return errMarkedAsSkipped
	case landfall.Claimed:
		return importInProgress(a.desk.lease)
	}
	return errGivenUp
}

// errGivenUp is what a caller is told whose account is free again.
var errGivenUp = &landfall.Error{
	Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitRetryAfter,
	Detail: "The attempt took too long and was given up. Send the same request again.",
}

// run takes the steps that need no transaction one after the other; only the last
// one writes. Whatever ends it before that releases the claim.
func (a *attempt) run(ctx context.Context) (landfall.CreateOutcome, error) {
	now := a.desk.now()
	data, err := a.check(ctx, now)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	if err := a.askOutside(ctx, &data); err != nil {
		return landfall.CreateOutcome{}, err
	}
	creation, err := a.creation(data, now)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	outcome, err := a.desk.store.Create(ctx, creation)
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
		return landfall.CreateOutcome{}, errSupplierNotOngoing
	}
	return landfall.CreateOutcome{}, fmt.Errorf("unknown create verdict %d", outcome.Verdict)
}

// check applies the rules to what was staged once more: they or their
// severities may be newer than the staging.
func (a *attempt) check(ctx context.Context, now time.Time) (landfall.AccountData, error) {
	account, err := contract.ReadAccount(ctx, a.claim.Document)
	if err != nil {
		return landfall.AccountData{}, err
	}
	defer account.Release()
	verdict := account.Check(&a.supplier, now)
	if err := verdict.Err(); err != nil {
		return landfall.AccountData{}, err
	}
	a.warnings = verdict.Warnings
	return account.Data(), nil
}

// giveBack ends the claim and keeps why the attempt ended, or says why that
// could not be kept. A claim that is lost, or whose account may exist after
// all, is left to its lease: writing about it could contradict what somebody
// else is doing. Neither success has anything left to give back.
func (a *attempt) giveBack(ctx context.Context, reason error) error {
	if reason == nil || errors.Is(reason, errDryRun) ||
		errors.Is(reason, landfall.ErrFenced) || errors.Is(reason, landfall.ErrUnknownOutcome) {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasePatience)
	defer cancel()
	return a.desk.store.Release(ctx, a.claim, a.record(reason))
}

// record is what the process's history keeps of an attempt without an account.
func (a *attempt) record(reason error) landfall.Attempt {
	event := landfall.Event{Type: landfall.EventImportFailed, Key: a.claim.Key}
	if a.claim.DryRun {
		event.Type = landfall.EventDryRunFailed
	}
	shown := trouble(reason)
	event.Details = map[string]string{"code": shown.Code}
	if a.within != "" {
		event.Details["run"] = a.within
	}
	return landfall.Attempt{Event: event, By: a.who.Author(), Failure: &landfall.Failure{
		Code: shown.Code, Detail: shown.Detail, Violations: shown.Violations, DryRun: a.claim.DryRun,
	}}
}

// refusedClaim tells a caller why he may not create the account now.
func refusedClaim(key landfall.Key, outcome landfall.ClaimOutcome) error {
	switch outcome.Verdict {
	case landfall.ClaimNotStaged:
		return landfall.Refuse(landfall.CodeProcessUnknown, "No data was staged for this account. Stage it first.")
	case landfall.ClaimDocumentRemoved:
		return landfall.Refuse(landfall.CodeProcessUnknown, landfall.DocumentRemoved)
	case landfall.ClaimImported:
		return alreadyImported(key, outcome.AccountNumber)
	case landfall.ClaimSkipped:
		return errMarkedAsSkipped
	case landfall.ClaimTaken:
		return importInProgress(outcome.LeaseLeft)
	case landfall.ClaimNoTeam:
		return refuseField("operations_team_name", landfall.CodeTeamUnknown, "There is no operations team with this name.")
	case landfall.ClaimNoSupplier:
		return errSupplierNotOngoing
	case landfall.ClaimOverLimit:
		return &landfall.Error{
			Kind: landfall.TooMany, Code: landfall.CodeConcurrencyLimit, RetryAfter: limitRetryAfter,
			Detail: "Too many accounts are being created at once. Try again when others have finished.",
		}
	}
	return trouble(fmt.Errorf("unknown claim verdict %d", outcome.Verdict))
}
