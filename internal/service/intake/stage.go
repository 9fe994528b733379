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

	identifiers []landfall.Identifier // that other accounts may have
}

// Stage checks one account with the rules of Validate and stores it. The store
// decides in the writing transaction whether it may be stored. The body must not
// change afterwards: the store may still be reading it after a timeout.
func (s *Service) Stage(ctx context.Context, who landfall.Principal, body []byte) (Receipt, error) {
	var sent preparedStaging
	if err := s.prepare(ctx, who, body, &sent); err != nil {
		return Receipt{}, s.refuse(ctx, who, sent.key, body, err)
	}
	outcome, err := s.store.For(who.Caller()).Stage(ctx, sent.staging)
	return s.conclude(ctx, who, &sent, landfall.StageResult{StageOutcome: outcome, Err: err})
}

type preparedStaging struct {
	key      landfall.Key // empty when a refusal is not about the account
	staging  landfall.Staging
	warnings []landfall.Violation
}

// prepare reads an account and fills in its staging. It releases the parsed account
// at once: that is ten times the size of the document, and the next one is parsed
// faster into memory that is still cached. The result is large, so it is written
// in place: copying it grew the stacks of thousands of concurrent callers.
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
		into.key = landfall.Key{} // not about the account
		return err
	}
	s.staging(who, read, &into.staging)
	into.warnings = read.warnings
	return nil
}

// staging fills in what the store needs of an account.
func (s *Service) staging(who landfall.Principal, read checked, into *landfall.Staging) {
	account := read.account
	into.Key, into.Document, into.Hash, into.By = account.Key(), account.Body(), account.Hash(), who.Author()
	into.Figures, into.ValidJSON = account.Figures(read.supplier.Currency), true
	into.Identifiers = account.Identifiers(read.supplier)
}

// conclude turns the store's result into a receipt or a refusal.
func (s *Service) conclude(ctx context.Context, who landfall.Principal, sent *preparedStaging, result landfall.StageResult) (Receipt, error) {
	if result.Err != nil {
		return Receipt{}, userError(result.Err)
	}
	if result.Verdict == landfall.RefusedDuplicate {
		refusal, err := s.refuseConflicts(ctx, who, landfall.CodeAccountFailedValidation, result.Conflicts)
		if err != nil {
			return Receipt{}, err
		}
		return Receipt{}, s.refuse(ctx, who, sent.key, sent.staging.Document, refusal)
	}
	if refusal := refusedStaging(sent.key, result.StageOutcome); refusal != nil {
		if result.Verdict == landfall.RefusedImported {
			return Receipt{}, s.addDifferences(ctx, who, refusal, sent, result.StageOutcome)
		}
		return Receipt{}, s.refuse(ctx, who, sent.key, sent.staging.Document, refusal)
	}
	return Receipt{
		Key: sent.key, First: result.Verdict == landfall.StagedFirst,
		Revision: result.Revision, Warnings: sent.warnings, identifiers: sent.staging.Identifiers,
	}, nil
}

// addDifferences adds to the refusal of an account that exists in which attrs the
// document differs from the account's record, so that a second delivery with
// other data is noticed. Nothing is added when the record was erased.
func (s *Service) addDifferences(
	ctx context.Context, who landfall.Principal, refusal *landfall.Error, sent *preparedStaging, outcome landfall.StageOutcome,
) error {
	differences := []string{}
	if !outcome.SameDocument {
		var record landfall.StagedRevision
		err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
			record, err = view.Revision(ctx, sent.key, outcome.Revision)
			return err
		})
		switch {
		case err != nil:
			return userError(err)
		case record.Document == nil:
			return refusal
		}
		schema, err := s.SupplierSchema(ctx, who, sent.key.Supplier)
		if err != nil {
			return userError(err)
		}
		if schema == nil { // the grant was revoked just now
			return refusal
		}
		found, err := schema.AccountDifferences(record.Document, sent.staging.Document)
		if err != nil {
			return userError(err)
		}
		differences = append(differences, found...)
	}
	if len(differences) > 0 || outcome.Differed {
		if err := s.recordDifferences(ctx, who, sent.key, differences); err != nil {
			return err
		}
	}
	refusal.Members = append(refusal.Members, landfall.Member{Name: "differences", Value: differences})
	return refusal
}

// recordDifferences records in which attrs the account was delivered again, so
// that a changed delivery is seen even if nobody reads the response. Without attrs
// it clears what is on record. If that fails, the caller gets that error and sends
// the account again.
func (s *Service) recordDifferences(ctx context.Context, who landfall.Principal, key landfall.Key, attrs []string) error {
	failure := landfall.Failure{Code: landfall.CodeAlreadyImported}
	for _, attr := range attrs {
		failure.Violations = append(failure.Violations, landfall.Violation{Code: landfall.CodeAlreadyImported, Attr: attr})
	}
	err := s.store.For(who.Caller()).RefusePosting(ctx, landfall.PostingRefusal{Key: key, Kind: landfall.PostingAccount, By: who.Author(), Failure: failure})
	if err != nil {
		return userError(err)
	}
	return nil
}

// refuse records why an account was not staged, so that no account disappears just
// because nobody read the response, and by what support finds it. If that fails, the
// caller gets that error and sends the account again.
func (s *Service) refuse(ctx context.Context, who landfall.Principal, key landfall.Key, body []byte, reason error) error {
	var refusal *landfall.Error
	if !contract.ValidExternalNumber(key.External) || !errors.As(reason, &refusal) || refusal.Kind != landfall.Invalid {
		return reason
	}
	switch refusal.Code {
	case landfall.CodeAlreadyImported, landfall.CodeMarkedAsSkipped:
		return reason // neither is caused by the data
	}
	err := s.store.For(who.Caller()).Refuse(ctx, landfall.Refusal{
		Key: key, By: who.Author(), Document: contract.SearchDocument(body),
		Failure: landfall.Failure{Code: refusal.Code, Detail: refusal.Detail, Violations: refusal.Violations},
	})
	if err != nil {
		return userError(err)
	}
	return reason
}

// refusedStaging returns why a valid document was not staged, or nil.
func refusedStaging(key landfall.Key, outcome landfall.StageOutcome) *landfall.Error {
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
