package operate

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"landfall"
)

// AccountPageQuery says which part of an account somebody looks at.
type AccountPageQuery struct {
	landfall.AccountPageQuery
	Before   time.Time // of the history; zero: until now
	From, To int       // revisions to compare; 0: the last two
}

// AccountPage is what a page about an account shows, whatever its size.
type AccountPage struct {
	Process  landfall.Process
	Supplier landfall.Supplier
	Account  *landfall.AccountPage // nil until there is one
	Undone   []landfall.UndoneAccount
	Mails    []landfall.MailRecord
	History  landfall.History
	Old, New *landfall.StagedRevision // to compare; nil where there is none
}

// Refused is where an account stands of which nothing is known but that its
// staging was refused. No process is ever in it.
const Refused landfall.ProcessState = "refused"

// AccountPage gives a page of what is known about an account, in one snapshot.
func (o *Operator) AccountPage(ctx context.Context, key landfall.Key, look AccountPageQuery) (AccountPage, error) {
	var sheet AccountPage
	err := o.view(ctx, "account.show", func(view landfall.View) error {
		// A view that is asked again must not add to what the first one found.
		found := AccountPage{}
		if err := found.load(ctx, view, key, look); err != nil {
			return err
		}
		sheet = found
		return nil
	})
	return sheet, err
}

// load fills the sheet from one snapshot. An account that was only ever refused
// has no process, but people look for it all the same.
func (s *AccountPage) load(ctx context.Context, view landfall.View, key landfall.Key, look AccountPageQuery) (err error) {
	refused, unrefused := view.StagingRefusal(ctx, key)
	if unrefused != nil && !errors.Is(unrefused, landfall.ErrNotFound) {
		return unrefused
	}
	s.Process, err = view.Process(ctx, key)
	switch {
	case errors.Is(err, landfall.ErrNotFound) && unrefused == nil:
		// Nothing of it is staged, and yet it is known.
		s.Process = landfall.Process{Key: key, State: Refused}
	case err != nil:
		return processError(ctx, view, key, err)
	}
	// What happened last is what keeps the account back, and what people ask about.
	if unrefused == nil && (s.Process.Failure == nil || s.Process.Failure.At.Before(refused.At)) {
		s.Process.Failure = &refused
	}
	if s.Supplier, err = view.Supplier(ctx, key.Supplier); err != nil {
		return err
	}
	account, err := view.AccountPage(ctx, key, look.AccountPageQuery)
	switch {
	case err == nil:
		s.Account = &account
	case !errors.Is(err, landfall.ErrNotFound):
		return err
	}
	if s.Undone, err = view.UndoneAccounts(ctx, key); err != nil {
		return err
	}
	if s.Mails, err = view.MailsOf(ctx, key); err != nil {
		return err
	}
	// One more than is shown tells whether there is more.
	s.History, err = view.History(ctx, landfall.HistoryQuery{Key: key, Before: look.Before, Limit: look.Rows + 1})
	if err != nil {
		return err
	}
	return s.compare(ctx, view, key, look)
}

// compare loads two revisions: those asked for, or the last one and the one
// before it.
func (s *AccountPage) compare(ctx context.Context, view landfall.ProcessReader, key landfall.Key, look AccountPageQuery) (err error) {
	if look.To <= 0 || look.To > s.Process.Revision {
		look.To = s.Process.Revision
	}
	if look.From <= 0 || look.From >= look.To {
		look.From = look.To - 1
	}
	if s.New, err = revision(ctx, view, key, look.To); err != nil {
		return err
	}
	s.Old, err = revision(ctx, view, key, look.From)
	return err
}

// revision gives a staged document, or nil where there is none: before the first,
// and after it was purged or erased.
func revision(ctx context.Context, view landfall.ProcessReader, key landfall.Key, number int) (*landfall.StagedRevision, error) {
	if number < 1 {
		return nil, nil //nolint:nilnil // there is none before the first
	}
	found, err := view.Revision(ctx, key, number)
	if errors.Is(err, landfall.ErrNotFound) || err == nil && found.Document == nil {
		return nil, nil //nolint:nilnil // it is gone
	}
	return &found, err
}

// KeyOf gives the key of the account with a number, or says what became of it.
func (o *Operator) KeyOf(ctx context.Context, number string) (landfall.Key, error) {
	number = strings.ToUpper(number)
	var key landfall.Key
	err := o.view(ctx, "account.show", func(view landfall.View) error {
		found, err := view.KeyByNumber(ctx, number)
		if errors.Is(err, landfall.ErrNotFound) {
			return numberError(ctx, view, number)
		}
		key = found
		return err
	})
	return key, err
}

// RecordReveal notes that somebody is about to see what is personal of an account,
// and why. Nothing is shown before that is kept.
func (o *Operator) RecordReveal(ctx context.Context, key landfall.Key, reason string) error {
	if err := checkLine("reason", "The reason", reason, longestReason); err != nil {
		return err
	}
	return o.change(ctx, "account.reveal", auditSubject(key), func(tx landfall.Tx) (string, error) {
		if _, err := tx.Process(ctx, key); err != nil {
			return "", processError(ctx, tx, key, err)
		}
		return reason, nil
	})
}

// Accounts streams the accounts of a supplier.
func (o *Operator) Accounts(ctx context.Context, query landfall.ProcessQuery) (iter.Seq2[landfall.ProcessEntry, error], error) {
	if _, err := o.ShowSupplier(ctx, query.Supplier); err != nil {
		return nil, err
	}
	return userErrors("account.list", o.store.List(ctx, query)), nil
}

// FailedAccounts streams the accounts of a supplier that do not get on.
func (o *Operator) FailedAccounts(ctx context.Context, query landfall.FailureQuery) (iter.Seq2[landfall.FailedProcess, error], error) {
	if _, err := o.ShowSupplier(ctx, query.Supplier); err != nil {
		return nil, err
	}
	return userErrors("account.failed", o.store.Failed(ctx, query)), nil
}

// userErrors is a stream whose errors are the operator's.
func userErrors[T any](doing string, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for one, err := range rows {
			if !yield(one, storeError(doing, err)) || err != nil {
				return
			}
		}
	}
}
