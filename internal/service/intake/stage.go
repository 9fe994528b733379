package intake

import (
	"context"
	"errors"
	"fmt"

	"landfall"
	"landfall/internal/api/contract"
)

// Receipt says what was staged.
type Receipt struct {
	Key      landfall.Key
	First    bool // staged for the first time
	Revision int
	Warnings []landfall.Violation
}

// Stage checks one account with the rules of Validate and keeps it. Whether it
// may be kept is decided by the store in the transaction that writes it.
// The body must stay untouched afterwards: a store may still be reading it
// when a caller who ran out of time is answered.
func (s *Service) Stage(ctx context.Context, who landfall.Principal, body []byte) (Receipt, error) {
	var sent preparedStaging
	if err := s.prepare(ctx, who, body, &sent); err != nil {
		return Receipt{}, s.refuse(ctx, who, sent.key, err)
	}
	outcome, err := s.store.Stage(ctx, sent.staging)
	return s.conclude(ctx, who, &sent, landfall.StageResult{StageOutcome: outcome, Err: err})
}

// preparedStaging is an account that was read, as far as it is needed afterwards.
type preparedStaging struct {
	key      landfall.Key // empty when nobody's account is to blame for a refusal
	staging  landfall.Staging
	warnings []landfall.Violation
}

// prepare reads an account and makes of it what the store keeps. What it was
// read into is given back at once: an account is ten times its size there, and
// the next one is read much quicker into memory that was in use a moment ago.
// What it makes is large and is put where it is wanted: copies of it on the way
// there were what the stacks of five thousand callers were too short for.
func (s *Service) prepare(ctx context.Context, who landfall.Principal, body []byte, into *preparedStaging) error {
	read, err := s.read(ctx, who, body)
	if read.account == nil {
		return err
	}
	defer read.account.Release()
	if into.key = read.account.Key(); err != nil {
		return err
	}
	if err := s.checkRevisionQuota(ctx, who, read.account); err != nil {
		into.key = landfall.Key{} // the account is not to blame
		return err
	}
	s.staging(who, read, &into.staging)
	into.warnings = read.warnings
	return nil
}

// staging makes of an account that was read what the store keeps.
func (s *Service) staging(who landfall.Principal, read checked, into *landfall.Staging) {
	account := read.account
	into.Key, into.Document, into.Hash, into.By = account.Key(), account.Body(), account.Hash(), who.Author()
	into.Figures, into.ValidJSON = account.Figures(read.supplier.Currency), true
}

// conclude tells what became of an account that was handed to the store.
func (s *Service) conclude(ctx context.Context, who landfall.Principal, sent *preparedStaging, result landfall.StageResult) (Receipt, error) {
	if result.Err != nil {
		return Receipt{}, userError(result.Err)
	}
	if refusal := refusedStaging(sent.key, result.StageOutcome); refusal != nil {
		return Receipt{}, s.refuse(ctx, who, sent.key, refusal)
	}
	return Receipt{
		Key: sent.key, First: result.Verdict == landfall.StagedFirst,
		Revision: result.Revision, Warnings: sent.warnings,
	}, nil
}

// refuse leaves on record why an account was not staged, so that no account
// vanishes because nobody read an answer. Where that cannot be kept the caller
// is told so and sends it again.
func (s *Service) refuse(ctx context.Context, who landfall.Principal, key landfall.Key, reason error) error {
	var refusal *landfall.Error
	if !contract.ValidExternalNumber(key.External) || !errors.As(reason, &refusal) || refusal.Kind != landfall.Invalid {
		return reason
	}
	switch refusal.Code {
	case landfall.CodeAlreadyImported, landfall.CodeMarkedAsSkipped:
		return reason // neither is kept back by its data
	}
	err := s.store.Refuse(ctx, landfall.Refusal{
		Key: key, By: who.Author(),
		Failure: landfall.Failure{Code: refusal.Code, Detail: refusal.Detail, Violations: refusal.Violations},
	})
	if err != nil {
		return userError(err)
	}
	return reason
}

// refusedStaging tells a caller why a good document was not kept, or is nil.
func refusedStaging(key landfall.Key, outcome landfall.StageOutcome) error {
	switch outcome.Verdict {
	case landfall.StagedFirst, landfall.StagedAgain:
		return nil
	case landfall.RefusedImported:
		return alreadyImported(key, outcome.AccountNumber)
	case landfall.RefusedSkipped:
		return errMarkedAsSkipped
	case landfall.RefusedClaimed:
		return importInProgress(outcome.LeaseLeft)
	case landfall.RefusedSupplier:
		return ErrSupplierNotOngoing
	}
	return userError(fmt.Errorf("unknown stage verdict %d", outcome.Verdict))
}
