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

// WholeAccounts streams the whole accounts of a supplier, all of them or those
// that changed since an event. With a limit it streams about that many, and
// returns where they end if there are more. The caller has to call AuditStream at
// the end.
func (s *Service) WholeAccounts(
	ctx context.Context, who landfall.Principal, query landfall.WholeAccountQuery, since landfall.EventPosition, limit int,
) (accounts iter.Seq2[landfall.WholeAccount, error], end *landfall.ProcessCursor, err error) {
	if err := s.RequireSupplier(ctx, who, query.Supplier); err != nil {
		return nil, nil, err
	}
	query.ChangedAfter = since.ID
	err = s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		if query.Changed {
			gone, err := view.PurgedEvents(ctx)
			if err != nil {
				return err
			}
			if err := checkCursor(ctx, view, since, []string{query.Supplier}, gone); err != nil {
				return err
			}
		}
		if limit > 0 {
			// The page is streamed up to this account, so that one which is created
			// meanwhile moves no other account from page to page.
			end, err = view.WholeAccountPage(ctx, query, limit)
		}
		return err
	})
	if err != nil {
		return nil, nil, userError(err)
	}
	query.UpTo = end
	return UserErrors(s.store.For(who.Caller()).WholeAccounts(ctx, query)), end, nil
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

// AuditStream records how many whole accounts were sent in one request. It is
// recorded even if the caller has left.
func (s *Service) AuditStream(ctx context.Context, who landfall.Principal, supplier string, count int) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.ReleaseClaim)
	defer cancel()
	if err := s.auditRead(ctx, who, who.Audit("account.read_all", supplier, fmt.Sprintf("%d accounts", count))); err != nil {
		return userError(err)
	}
	return nil
}

// auditRead commits an audit entry about a read.
func (s *Service) auditRead(ctx context.Context, who landfall.Principal, entry landfall.AuditEntry) error {
	return s.store.For(who.Caller()).Update(ctx, func(tx landfall.Tx) error { return tx.AppendAudit(ctx, entry) })
}
