package operate

import (
	"context"
	"errors"
	"iter"
	"strings"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
)

// AccountPageQuery says which part of an account to show.
type AccountPageQuery struct {
	landfall.AccountPageQuery
	Before   time.Time // end of the history; zero: now
	From, To int       // revisions to compare; 0: the last two
}

// AccountPage is the data of one page about an account. It is bounded, however
// large the account is.
type AccountPage struct {
	Process  landfall.Process
	Supplier landfall.Supplier
	Account  *landfall.AccountPage // nil until it is created
	Undone   []landfall.UndoneAccount
	Refused  []landfall.Failure // postings
	Mails    []landfall.MailRecord
	// Deliveries are those to a target, oldest first, the first maxShown.
	Deliveries []landfall.TargetDelivery
	History    landfall.History
	Old, New   *landfall.StagedRevision // to compare; nil if there is none
	PackValues []contract.PackValue     // of the record, the first of them
	PackMore   int                      // how many more there are
	Staged     *landfall.AccountData    // who an account is about that was not created; nil if it is not known
}

// Refused is the state shown for an account whose staging was refused and that
// was never staged. No process is ever in this state.
const Refused landfall.ProcessState = "refused"

// AccountPage returns a page about an account, read from one snapshot.
func (o *Operator) AccountPage(ctx context.Context, key landfall.Key, look AccountPageQuery) (AccountPage, error) {
	var sheet AccountPage
	err := o.view(ctx, "account.show", func(view landfall.View) error {
		// The store may run this function again. Start from an empty page each
		// time.
		found := AccountPage{}
		if err := found.load(ctx, view, key, look); err != nil {
			return err
		}
		sheet = found
		return nil
	})
	return sheet, err
}

// load fills the page from one snapshot. An account whose staging was always
// refused has no process, but people look it up all the same.
func (s *AccountPage) load(ctx context.Context, view landfall.View, key landfall.Key, look AccountPageQuery) (err error) {
	refused, unrefused := view.StagingRefusal(ctx, key)
	if unrefused != nil && !errors.Is(unrefused, landfall.ErrNotFound) {
		return unrefused
	}
	s.Process, err = view.Process(ctx, key)
	switch {
	case errors.Is(err, landfall.ErrNotFound) && unrefused == nil:
		// Nothing was ever staged, but the account is known.
		s.Process = landfall.Process{Key: key, State: Refused}
	case err != nil:
		return processError(ctx, view, key, err)
	}
	// Show the most recent problem: it is what blocks the account now.
	if unrefused == nil && (s.Process.Failure == nil || s.Process.Failure.At.Before(refused.Failure.At)) {
		s.Process.Failure = &refused.Failure
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
	if s.Deliveries, err = view.TargetDeliveries(ctx, landfall.TargetDeliveryQuery{Key: &key, Limit: maxShown}); err != nil {
		return err
	}
	if s.Refused, err = view.RefusedPostings(ctx, key); err != nil {
		return err
	}
	if s.Mails, err = view.MailsOf(ctx, key); err != nil {
		return err
	}
	// Read one row more than the page shows, to know whether there are more.
	s.History, err = view.History(ctx, landfall.HistoryQuery{Key: key, Before: look.Before, Limit: look.Rows + 1})
	if err != nil {
		return err
	}
	if err := s.compare(ctx, view, key, look); err != nil {
		return err
	}
	if s.Account == nil {
		if s.Staged, err = stagedPeople(ctx, view, s.Process, refused.Document); err != nil {
			return err
		}
	}
	return s.loadPackValues(ctx, view, key)
}

// stagedPeople returns who an account is about: from what was staged last, or from what
// is kept of a refused staging. It is nil if that was removed.
func stagedPeople(ctx context.Context, view landfall.ProcessReader, process landfall.Process, refused []byte) (*landfall.AccountData, error) {
	document := refused
	last, err := revision(ctx, view, process.Key, process.Revision)
	if err != nil {
		return nil, err
	}
	if last != nil {
		document = last.Document
	}
	if len(document) == 0 || len(document) > limits.ConsolePackRecord {
		return nil, nil //nolint:nilnil // it is gone, or too large for a page
	}
	return contract.People(document), nil
}

// loadPackValues reads the fields of the packs under which the account was created.
func (s *AccountPage) loadPackValues(ctx context.Context, view landfall.View, key landfall.Key) (err error) {
	if s.Account == nil || len(s.Account.Packs) == 0 {
		return nil
	}
	record := s.New
	if record == nil || record.Revision != s.Account.Revision {
		if record, err = revision(ctx, view, key, s.Account.Revision); err != nil {
			return err
		}
	}
	if record == nil || len(record.Document) > limits.ConsolePackRecord {
		return nil
	}
	schema, err := contract.OpenSchema(s.Account.Packs, func(name string) ([]byte, error) { return packText(ctx, view, name) })
	if err != nil {
		return packError(err)
	}
	s.PackValues, s.PackMore = schema.PackValues(record.Document, limits.ConsolePackFields)
	return nil
}

// compare loads the two revisions asked for, or by default the last two.
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

// revision returns a staged document, or nil if there is none: for a number
// below 1, and after the document was purged or erased.
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

// KeyOf returns the key of the account with a number, or an error that says what
// became of the account.
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

// RecordReveal records that someone is about to see an account's personal data,
// and why. Call it before showing the data.
func (o *Operator) RecordReveal(ctx context.Context, key landfall.Key, reason string) error {
	if err := checkLine("reason", "The reason", reason, maxReasonLength); err != nil {
		return err
	}
	return o.change(ctx, "account.reveal", auditSubject(key), func(tx landfall.Tx) (string, error) {
		_, err := peopleOf(ctx, tx, key)
		return reason, err
	})
}

// peopleOf returns who an account is about, whether it was created or not.
func peopleOf(ctx context.Context, view landfall.View, key landfall.Key) (*landfall.AccountData, error) {
	process, err := view.Process(ctx, key)
	if err == nil {
		return stagedPeople(ctx, view, process, nil)
	}
	if refused, none := view.StagingRefusal(ctx, key); none == nil && errors.Is(err, landfall.ErrNotFound) {
		return stagedPeople(ctx, view, landfall.Process{Key: key}, refused.Document)
	}
	return nil, processError(ctx, view, key, err)
}

// Accounts streams the accounts of a supplier.
func (o *Operator) Accounts(ctx context.Context, query landfall.ProcessQuery) (iter.Seq2[landfall.ProcessEntry, error], error) {
	if _, err := o.ShowSupplier(ctx, query.Supplier); err != nil {
		return nil, err
	}
	return userErrors("account.list", o.store.List(ctx, query)), nil
}

// FailedAccounts streams the failed accounts of a supplier.
func (o *Operator) FailedAccounts(ctx context.Context, query landfall.FailureQuery) (iter.Seq2[landfall.FailedProcess, error], error) {
	if _, err := o.ShowSupplier(ctx, query.Supplier); err != nil {
		return nil, err
	}
	return userErrors("account.failed", o.store.Failed(ctx, query)), nil
}

// userErrors passes the errors of a stream through storeError.
func userErrors[T any](doing string, rows iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for one, err := range rows {
			if !yield(one, storeError(doing, err)) || err != nil {
				return
			}
		}
	}
}
