package operate

import (
	"context"
	"errors"
	"iter"
	"strings"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
)

// AccountFacts is everything known about an external account: its import and the
// account created from it.
type AccountFacts struct {
	Process   landfall.Process
	Supplier  landfall.Supplier
	Revisions []landfall.StagedRevision
	Events    []landfall.Event
	Mails     []landfall.MailRecord
	Account   *landfall.Account // nil until it is created
	Undone    []landfall.UndoneAccount
	Refused   []landfall.Failure // postings
}

// ShowAccount returns everything known about an external account.
func (o *Operator) ShowAccount(ctx context.Context, key landfall.Key) (AccountFacts, error) {
	var facts AccountFacts
	err := o.view(ctx, "account.show", func(view landfall.View) error {
		account, err := view.Account(ctx, key)
		switch {
		case err == nil:
			facts.Account = &account
		case !errors.Is(err, landfall.ErrNotFound):
			return err
		}
		return facts.load(ctx, view, key)
	})
	return facts, err
}

// ShowAccountByNumber returns everything known about the account with a number.
// Lower-case letters are accepted, because numbers are read out over the
// telephone.
func (o *Operator) ShowAccountByNumber(ctx context.Context, number string) (AccountFacts, error) {
	number = strings.ToUpper(number)
	if !landfall.ValidAccountNumber(number) {
		return AccountFacts{}, landfall.Refuse(landfall.CodeAccountNotFound,
			"This is not an account number, or a character of it is mistyped. "+
				"Account numbers look like A-7K3M9Q2B; for other numbers, give the supplier and the external number.")
	}
	var facts AccountFacts
	err := o.view(ctx, "account.show", func(view landfall.View) error {
		account, err := view.AccountByNumber(ctx, number)
		if errors.Is(err, landfall.ErrNotFound) {
			return numberError(ctx, view, number)
		}
		if err != nil {
			return err
		}
		facts.Account = &account
		return facts.load(ctx, view, account.Key)
	})
	return facts, err
}

// load reads all facts from one snapshot, so that they are consistent even while
// others write.
func (f *AccountFacts) load(ctx context.Context, view landfall.View, key landfall.Key) (err error) {
	if f.Process, err = view.Process(ctx, key); err != nil {
		return processError(ctx, view, key, err)
	}
	if f.Supplier, err = view.Supplier(ctx, key.Supplier); err != nil {
		return err
	}
	if f.Revisions, err = view.Revisions(ctx, key); err != nil {
		return err
	}
	if f.Undone, err = view.UndoneAccounts(ctx, key); err != nil {
		return err
	}
	if f.Refused, err = view.RefusedPostings(ctx, key); err != nil {
		return err
	}
	if f.Events, err = view.Events(ctx, key); err != nil {
		return err
	}
	f.Mails, err = view.MailsOf(ctx, key)
	return err
}

// numberError reports that no account has the number, or that the account that
// had it was undone.
func numberError(ctx context.Context, view landfall.UndoReader, number string) error {
	gone, err := view.UndoneAccount(ctx, number)
	if errors.Is(err, landfall.ErrNotFound) {
		return notFound(landfall.CodeAccountNotFound, "There is no account with the number %s.", number)
	}
	if err != nil {
		return err
	}
	return notFound(landfall.CodeAccountNotFound, "Account %s was undone at %s by %s: %s. It was %q of supplier %s.",
		number, calendar.FormatInstant(gone.UndoneAt), gone.Actor, gone.Reason, gone.Key.External, gone.Key.Supplier)
}

// Failed calls each for every process of a supplier whose last attempt failed.
// There may be many, so they are streamed and not collected.
func (o *Operator) Failed(ctx context.Context, code string, each func(landfall.FailedProcess) error) error {
	if _, err := o.ShowSupplier(ctx, code); err != nil {
		return err
	}
	for failed, err := range o.store.Failed(ctx, landfall.FailureQuery{Supplier: code}) {
		if err == nil {
			err = each(failed)
		}
		if err != nil {
			return storeError("account.failed", err)
		}
	}
	return nil
}

// FailureSummary summarizes why a supplier's accounts fail. It reads every
// failure and calls progress from time to time.
func (o *Operator) FailureSummary(ctx context.Context, code string, progress func(looked int)) (landfall.FailureSummary, error) {
	if _, err := o.ShowSupplier(ctx, code); err != nil {
		return landfall.FailureSummary{}, err
	}
	var tally landfall.FailureTally
	looked := 0
	// Read each kind separately: a query for both would read half of the rows
	// twice.
	for _, which := range []landfall.FailureKind{landfall.AttemptFailures, landfall.StagingRefusals, landfall.PostingRefusals} {
		for failed, err := range landfall.OnePerAccount(o.store.Failed(ctx, landfall.FailureQuery{Supplier: code, Which: which})) {
			if err != nil {
				return landfall.FailureSummary{}, storeError("account.errors", err)
			}
			tally.AddAccount(failed.External, failed.Failure)
			if looked++; looked%progressEvery == 0 {
				progress(looked)
			}
		}
	}
	return tally.Summary(), nil
}

// progressEvery is how many accounts are read between two calls of progress.
const progressEvery = 1_000

// Duplicates returns the pairs of accounts that share an identifier, of the rules
// that are not off for the supplier, or of one rule.
func (o *Operator) Duplicates(ctx context.Context, code, rule string, query landfall.DuplicateQuery) (iter.Seq2[landfall.Duplicate, error], error) {
	supplier, err := o.ShowSupplier(ctx, code)
	if err != nil {
		return nil, err
	}
	query.Supplier, query.Kinds = code, contract.ActiveKinds(&supplier.Supplier)
	if rule != "" {
		kind, known := contract.AcrossKind(rule)
		if !known {
			return nil, invalid("rule", rules.CodeInvalidChoice, "Must be one of: %s.", strings.Join(contract.AcrossCodes(), ", "))
		}
		query.Kinds = []landfall.IdentifierKind{kind}
	}
	return userErrors("account.duplicates", o.store.Duplicates(ctx, query)), nil
}
