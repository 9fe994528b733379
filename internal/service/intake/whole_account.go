package intake

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"landfall"
	"landfall/internal/lib/limits"
)

// WholeAccount returns an account with its record. The read is in the audit
// before the account is returned.
func (s *Service) WholeAccount(ctx context.Context, who landfall.Principal, key landfall.Key) (landfall.WholeAccount, error) {
	supplier, err := s.Supplier(ctx, who, key.Supplier)
	if err != nil {
		return landfall.WholeAccount{}, userError(err)
	}
	if supplier == nil {
		return landfall.WholeAccount{}, errAccountNotFound
	}
	var account landfall.WholeAccount
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		account, err = view.WholeAccount(ctx, key)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return landfall.WholeAccount{}, errAccountNotFound
	}
	if err == nil {
		err = s.auditRead(ctx, who, who.Audit("account.read", key.Supplier+"/"+key.External, account.Number))
	}
	if err != nil {
		return landfall.WholeAccount{}, userError(err)
	}
	return account, nil
}

// EventAccount returns the whole account of an event, or nil if it no longer exists.
// The caller may read the event, and records what it sends.
func (s *Service) EventAccount(ctx context.Context, who landfall.Principal, key landfall.Key) (*landfall.WholeAccount, error) {
	var account landfall.WholeAccount
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		account, err = view.WholeAccount(ctx, key)
		return err
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, userError(err)
	}
	return &account, nil
}

// AccountStream is a stream of whole accounts.
type AccountStream struct {
	Accounts iter.Seq2[landfall.WholeAccount, error]
	End      *landfall.ProcessCursor // where a page ends; nil: there are no more accounts
	// Seen is a position in the log of events. What happened up to there is in
	// the accounts.
	Seen landfall.EventPosition
}

// WholeAccounts streams the whole accounts of a supplier, all of them or those
// that changed since an event. With a limit it streams about that many, and
// returns where they end if there are more. The caller has to call AuditStream at
// the end.
func (s *Service) WholeAccounts(
	ctx context.Context, who landfall.Principal, query landfall.WholeAccountQuery, since landfall.EventPosition, limit int,
) (stream AccountStream, err error) {
	if err := s.RequireSupplier(ctx, who, query.Supplier); err != nil {
		return AccountStream{}, err
	}
	// Before the accounts are read: whatever is complete by then is in them.
	complete, err := s.watcher.CompleteUpTo(ctx)
	if err != nil {
		return AccountStream{}, userError(err)
	}
	query.ChangedAfter = since.ID
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		gone, err := view.PurgedEvents(ctx)
		if err != nil {
			return err
		}
		if query.Changed {
			if err := checkCursor(ctx, view, since, []string{query.Supplier}, gone); err != nil {
				return err
			}
		}
		last, err := view.LastEvent(ctx, query.Supplier, complete)
		if err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		stream.Seen = last.Position()
		stream.Seen.PurgedThrough = latestPurged(gone).ID
		if limit > 0 {
			// The page is streamed up to this account, so that one which is created
			// meanwhile moves no other account from page to page.
			stream.End, err = view.WholeAccountPage(ctx, query, limit)
			return err
		}
		return nil
	})
	if err != nil {
		return AccountStream{}, userError(err)
	}
	query.UpTo = stream.End
	stream.Accounts = UserErrors(s.store.For(who.Caller()).WholeAccounts(ctx, query))
	return stream, nil
}

// AccountLists reads the rest of the lists of an account that is being sent. An
// account that was undone meanwhile is an error: what was sent of it is no
// longer true.
func (s *Service) AccountLists(ctx context.Context, who landfall.Principal, query landfall.AccountListsQuery) (landfall.AccountLists, error) {
	var lists landfall.AccountLists
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		lists, err = view.AccountLists(ctx, query)
		return err
	})
	if err != nil {
		return landfall.AccountLists{}, userError(err)
	}
	return lists, nil
}

// AuditStream records how many whole accounts were sent in one request, and why
// if the caller said so. It is recorded even if the caller has left.
func (s *Service) AuditStream(ctx context.Context, who landfall.Principal, supplier string, count int, reason string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.ReleaseClaim)
	defer cancel()
	detail := fmt.Sprintf("%d accounts", count)
	if reason != "" {
		detail += ": " + reason
	}
	if err := s.auditRead(ctx, who, who.Audit("account.read_all", supplier, detail)); err != nil {
		return userError(err)
	}
	return nil
}

// auditRead commits an audit entry about a read.
func (s *Service) auditRead(ctx context.Context, who landfall.Principal, entry landfall.AuditEntry) error {
	return s.store.For(who.Caller()).Update(ctx, func(tx landfall.Tx) error { return tx.AppendAudit(ctx, entry) })
}
