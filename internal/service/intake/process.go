package intake

import (
	"context"
	"errors"
	"fmt"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
)

// limitRetryAfter is how long a caller over the concurrency limit should wait.
// Creating an account takes a moment, so a slot is free again soon.
const limitRetryAfter = limits.CreationRetry

// maxDryRunTries is how often a dry run is tried on an account that changes
// meanwhile.
const maxDryRunTries = 3

// Created is an account that was created from its staged data.
type Created struct {
	landfall.CreateOutcome
	Warnings []landfall.Violation // about the staged data

	identifiers []landfall.Identifier // that other accounts may have
}

// Process creates an account from the staged data: it claims the process, checks
// the rules again, asks the file store and vendors, and writes the account in one
// transaction. At most one account is created for a key, however many callers
// try. A failure releases the claim and is recorded. A dry run takes the same
// steps and is rolled back; it neither blocks nor waits for other calls.
func (s *Service) Process(ctx context.Context, who landfall.Principal, request contract.ProcessRequest) (Created, error) {
	supplier, err := s.Supplier(ctx, who, request.Key.Supplier)
	if err != nil {
		return Created{}, userError(err)
	}
	if supplier == nil {
		return Created{}, landfall.RefuseField("import_supplier_code", landfall.CodeSupplierUnknown,
			"There is no import supplier with this code.")
	}
	done, err := s.BeginCreation(who)
	if err != nil {
		return Created{}, err
	}
	defer done()
	// A dry run holds nothing, so the account may be created or skipped and staged
	// again meanwhile. That is not the caller's fault, so the dry run is repeated.
	for try := 1; ; try++ {
		created, err := s.processOnce(ctx, who, request, *supplier)
		// Exactly this error: others with its code are not about the account.
		shown, _ := errors.AsType[*landfall.Error](err)
		if !request.DryRun || shown != errAttemptExpired || try == maxDryRunTries {
			return created, err
		}
	}
}

// ProcessAs is Process for an operator: it needs no grant, and the audit names
// the operator. The limits are the same. A dry run that passes is not an error
// here; it creates nothing, so there is no number.
func (s *Service) ProcessAs(ctx context.Context, operator landfall.Principal, request contract.ProcessRequest) (Created, error) {
	created, err := s.Process(ctx, operator, request)
	if errors.Is(err, errDryRun) {
		return Created{}, nil
	}
	return created, err
}

// processOnce claims an account and tries once to create it.
func (s *Service) processOnce(
	ctx context.Context, who landfall.Principal, request contract.ProcessRequest, supplier landfall.Supplier,
) (Created, error) {
	wanted := s.ClaimRequest(who, request.Key, request.Team, request.DryRun)
	wanted.Limited = supplier.ConcurrencyLimit > 0
	claimed, err := s.store.For(who.Caller()).Claim(ctx, wanted)
	if err != nil {
		return Created{}, userError(err)
	}
	if claimed.Verdict != landfall.ClaimGranted {
		return Created{}, refuseClaim(request.Key, claimed)
	}
	attempt := s.NewAttempt(who, supplier, claimed.Claim, "")
	return attempt.finish(ctx)
}

// ClaimRequest returns the request to claim an account for this service.
func (s *Service) ClaimRequest(who landfall.Principal, key landfall.Key, team string, dryRun bool) landfall.ClaimRequest {
	return landfall.ClaimRequest{Key: key, Team: team, Lease: s.lease, ServiceLimit: s.limit(), DryRun: dryRun, By: who.Author()}
}

// refuseClaim tells a caller why the account cannot be created now.
func refuseClaim(key landfall.Key, outcome landfall.ClaimOutcome) error {
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
		return landfall.RefuseField("operations_team_name", landfall.CodeTeamUnknown, "There is no operations team with this name.")
	case landfall.ClaimNoSupplier:
		return ErrSupplierNotOngoing
	case landfall.ClaimOverLimit:
		return &landfall.Error{
			Kind: landfall.TooMany, Code: landfall.CodeConcurrencyLimit, RetryAfter: limitRetryAfter,
			Detail: "Too many accounts are being created at once. Try again when others have finished.",
		}
	}
	return userError(fmt.Errorf("unknown claim verdict %d", outcome.Verdict))
}
