package operate

import (
	"context"
	"errors"
	"strings"

	"landfall"
	"landfall/internal/lib/calendar"
)

// AccountFacts is everything known about the way of one external account onto
// the platform, and about the account it became.
type AccountFacts struct {
	Process   landfall.Process
	Supplier  landfall.Supplier
	Revisions []landfall.StagedRevision
	Events    []landfall.Event
	Mails     []landfall.MailRecord
	Account   *landfall.Account // nil until there is one
	Undone    []landfall.UndoneAccount
}

// ShowAccount gives what is known about an external account.
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

// ShowAccountByNumber gives what is known about the account with a number.
// Letters may be typed small: numbers are read over the telephone.
func (o *Operator) ShowAccountByNumber(ctx context.Context, number string) (AccountFacts, error) {
	number = strings.ToUpper(number)
	if !landfall.ValidAccountNumber(number) {
		return AccountFacts{}, landfall.Refuse(landfall.CodeAccountNotFound,
			"This is not an account number, or a character of it is mistyped. "+
				"Account numbers look like A-7K3M9Q2B; for any other, give the supplier and the external number.")
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

// load gathers the facts in one snapshot, so that no two of them contradict each
// other however much is written meanwhile.
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
	if f.Events, err = view.Events(ctx, key); err != nil {
		return err
	}
	f.Mails, err = view.MailsOf(ctx, key)
	return err
}

// numberError says what became of the account that had a number, if one had.
func numberError(ctx context.Context, view landfall.UndoReader, number string) error {
	gone, err := view.UndoneAccount(ctx, number)
	if errors.Is(err, landfall.ErrNotFound) {
		return notFound(landfall.CodeAccountNotFound, "There is no account with the number %s.", number)
	}
	if err != nil {
		return err
	}
	return notFound(landfall.CodeAccountNotFound, "The account %s was taken back at %s by %s: %s. It was %q of supplier %s.",
		number, calendar.FormatInstant(gone.UndoneAt), gone.Actor, gone.Reason, gone.Key.External, gone.Key.Supplier)
}

// Failed hands over, one by one, every process of a supplier whose last attempt
// failed. There may be many, so none is kept.
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

// FailureSummary sums up what keeps a supplier's accounts back. It looks at each
// of them, and tells of progress now and then.
func (o *Operator) FailureSummary(ctx context.Context, code string, progress func(looked int)) (landfall.FailureSummary, error) {
	if _, err := o.ShowSupplier(ctx, code); err != nil {
		return landfall.FailureSummary{}, err
	}
	var tally landfall.FailureTally
	looked := 0
	// Each kind by itself: read together, half of it would be read once more.
	for _, which := range []landfall.FailureKind{landfall.AttemptFailures, landfall.StagingRefusals} {
		for failed, err := range o.store.Failed(ctx, landfall.FailureQuery{Supplier: code, Which: which}) {
			if err != nil {
				return landfall.FailureSummary{}, storeError("account.errors", err)
			}
			tally.Add(failed.Failure)
			if looked++; looked%progressEvery == 0 {
				progress(looked)
			}
		}
	}
	return tally.Summary(), nil
}

// progressEvery is how many accounts are looked at between two tellings.
const progressEvery = 1_000
