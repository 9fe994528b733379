package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"landfall"
	"landfall/internal/contract"
)

// limitRetryAfter is how long somebody over the concurrency limit should wait:
// creating an account takes a moment, so a slot is free again soon.
const limitRetryAfter = time.Second

// A dry run asks for a claim that is taken again after these pauses, doubling
// them: about two seconds in all.
const (
	shortestPause = 15 * time.Millisecond
	longestPause  = time.Second
)

// releasePatience bounds the release of a claim, which must happen even when
// the caller has gone; failing that, the lease frees the process.
const releasePatience = 5 * time.Second

// Created is an account that came out of its staged data.
type Created struct {
	landfall.CreateOutcome
	Warnings []landfall.Violation // about the staged data
}

// Process creates an account from the staged data: claim, rules once more,
// questions to the outside, one creating transaction. Exactly one account can
// come out of one key, whoever else is trying; a failure gives the claim back
// and keeps its reason. A dry run walks the same way and is rolled back.
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
	claimed, err := d.claim(ctx, request)
	if err != nil {
		return Created{}, trouble(err)
	}
	if claimed.Verdict != landfall.ClaimGranted {
		return Created{}, refusedClaim(request.Key, claimed)
	}
	attempt := attempt{desk: d, who: who, claim: claimed.Claim, supplier: *supplier, dryRun: request.DryRun}
	return attempt.settle(ctx)
}

// claim asks for the right to create the account. A dry run waits a little for
// whoever holds it: two of them at once are no conflict anybody wants to hear of.
func (d *Desk) claim(ctx context.Context, request contract.ProcessRequest) (landfall.ClaimOutcome, error) {
	wanted := landfall.ClaimRequest{
		Key: request.Key, Team: request.Team, Lease: d.lease, ServiceLimit: d.serviceLimit,
	}
	for pause := shortestPause; ; pause *= 2 {
		outcome, err := d.store.Claim(ctx, wanted)
		if err != nil || outcome.Verdict != landfall.ClaimTaken || !request.DryRun || pause > longestPause {
			return outcome, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return landfall.ClaimOutcome{}, ctx.Err()
		}
	}
}

// attempt is one try to create one account, holding its claim.
type attempt struct {
	desk     *Desk
	who      landfall.Principal
	claim    landfall.Claim
	supplier landfall.Supplier
	dryRun   bool
	warnings []landfall.Violation // that the rules have about the staged data
}

// errDryRun is how a dry run that would have succeeded ends.
var errDryRun = landfall.Refuse(landfall.CodeDryRunRolledBack,
	"The account would successfully import. It was rolled back due to the dry run.")

// errInterrupted is the reason kept of an attempt that a fault of ours ended.
var errInterrupted = errors.New("the attempt did not end")

// settle runs the attempt and ends the claim with it, whatever happens.
func (a *attempt) settle(ctx context.Context) (Created, error) {
	reason := errInterrupted
	defer func() {
		if reason != nil {
			a.giveBack(ctx, reason)
		}
	}()
	outcome, reason := a.run(ctx)
	switch {
	case errors.Is(reason, landfall.ErrFenced):
		return Created{}, a.explainLoss(ctx)
	case reason != nil:
		return Created{}, trouble(reason)
	}
	return Created{outcome, a.warnings}, nil
}

// explainLoss says what became of a process whose claim was lost: the lease
// had ended, and somebody else was free to do with it what he liked.
func (a *attempt) explainLoss(ctx context.Context) error {
	var process landfall.Process
	err := a.desk.store.View(ctx, func(view landfall.View) (err error) {
		process, err = view.Process(ctx, a.claim.Key)
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
	return &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: limitRetryAfter,
		Detail: "The attempt took too long and was given up. Send the same request again.",
	}
}

func (a *attempt) run(ctx context.Context) (landfall.CreateOutcome, error) {
	now := a.desk.now()
	account, err := contract.ReadAccount(a.claim.Document)
	if err != nil {
		return landfall.CreateOutcome{}, err
	}
	// The rules or their severities may be newer than the staging.
	verdict := account.Check(&a.supplier, now)
	if err := verdict.Err(); err != nil {
		return landfall.CreateOutcome{}, err
	}
	a.warnings = verdict.Warnings
	data := account.Data()
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

// giveBack ends the claim and keeps why the attempt ended. A claim that is
// lost, or whose account may exist after all, is left to its lease: writing
// about it could contradict what somebody else is doing.
func (a *attempt) giveBack(ctx context.Context, reason error) {
	if errors.Is(reason, landfall.ErrFenced) || errors.Is(reason, landfall.ErrUnknownOutcome) {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), releasePatience)
	defer cancel()
	// When even this fails the lease ends the claim; the caller has his answer.
	_ = a.desk.store.Release(ctx, a.claim, a.record(reason))
}

// record is what the process's history keeps of an attempt without an account.
func (a *attempt) record(reason error) landfall.Attempt {
	event := landfall.Event{Type: landfall.EventImportFailed, Key: a.claim.Key}
	if a.dryRun {
		event.Type = landfall.EventDryRunFailed
	}
	if errors.Is(reason, errDryRun) {
		event.Type = landfall.EventDryRunCompleted
		return landfall.Attempt{Event: event, By: a.who.Author()}
	}
	shown := trouble(reason)
	event.Details = map[string]string{"code": shown.Code}
	return landfall.Attempt{Event: event, By: a.who.Author(), Failure: &landfall.Failure{
		Code: shown.Code, Detail: shown.Detail, Violations: shown.Violations, DryRun: a.dryRun,
	}}
}

// refusedClaim tells a caller why he may not create the account now.
func refusedClaim(key landfall.Key, outcome landfall.ClaimOutcome) error {
	switch outcome.Verdict {
	case landfall.ClaimNotStaged:
		return landfall.Refuse(landfall.CodeProcessUnknown, "No data was staged for this account. Stage it first.")
	case landfall.ClaimImported:
		return alreadyImported(key, outcome.AccountNumber)
	case landfall.ClaimSkipped:
		return errMarkedAsSkipped
	case landfall.ClaimTaken:
		return importInProgress(outcome.Left)
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
