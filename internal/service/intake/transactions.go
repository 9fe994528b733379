package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/ledger"
)

// TransactionFlags are the options of PostTransactions.
type TransactionFlags struct {
	CheckAdded bool // skip transactions added before
	ForceDates bool // move dates into the open statement period
	DryRun     bool // only say what would be added
}

// TransactionsReceipt is the results of posted transactions.
type TransactionsReceipt struct {
	Schema   *contract.Schema // what the request was read with
	Results  []ledger.TransactionResult
	Warnings []landfall.Violation
}

// PostTransactions adds transactions to an imported account, all or none. The open
// period is checked in the writing transaction, so it cannot change before the
// commit.
func (s *Service) PostTransactions(
	ctx context.Context, who landfall.Principal, body []byte, flags TransactionFlags,
) (_ TransactionsReceipt, err error) {
	request, err := contract.ReadTransactions(ctx, body)
	if err != nil {
		return TransactionsReceipt{}, err
	}
	key, schema := request.Key(), contract.PlainSchema()
	defer func() {
		if !flags.DryRun {
			err = s.refusePosting(ctx, who, key, landfall.PostingTransactions, err)
		}
	}()
	supplier, err := s.Supplier(ctx, who, request.Key().Supplier)
	if err != nil {
		return TransactionsReceipt{}, userError(err)
	}
	if supplier != nil && len(supplier.Packs) > 0 {
		if schema, err = s.schema(ctx, supplier); err != nil {
			return TransactionsReceipt{}, userError(err)
		}
		request.Release()
		if request, err = schema.ReadTransactions(ctx, body); err != nil {
			return TransactionsReceipt{}, err
		}
	}
	verdict := request.Check(supplier, s.now(), flags.CheckAdded)
	if refusal := request.Refusal(verdict); refusal != nil {
		if earlier := s.refuseEarlier(ctx, who, supplier, request, verdict, flags); earlier != nil {
			return TransactionsReceipt{}, earlier
		}
		return TransactionsReceipt{}, refusal
	}
	if supplier == nil {
		return TransactionsReceipt{}, errNoAccount
	}
	receipt := TransactionsReceipt{Schema: schema, Warnings: verdict.Warnings}
	posting := transactionPosting(who, *supplier, request.Key(), request.Transactions(), flags)
	decide := posting.decide
	posting.Decide = func(account landfall.AccountState) (landfall.Additions, error) {
		results, additions, err := decide(account)
		if refusal, is := errors.AsType[*ledger.RefusedError](err); is {
			return landfall.Additions{}, request.Refuse(refusal.Index, refusal.Field, refusal.Code, refusal.Detail, nil)
		}
		receipt.Results = results
		additions.Event = additionEvent(landfall.EventTransactionsCreated, request.Key(), len(additions.Entries))
		return additions, err
	}
	if flags.DryRun {
		err = s.dryRun(ctx, who, supplier, posting.Posting)
	} else {
		_, err = s.post(ctx, who, posting.Posting, errNoAccount)
	}
	if err != nil {
		return TransactionsReceipt{}, err
	}
	// Release only after success: after an error Decide may still be running and use
	// the request.
	request.Release()
	return receipt, nil
}

// dryRun decides about transactions like post, but only reads the account.
func (s *Service) dryRun(ctx context.Context, who landfall.Principal, supplier *landfall.Supplier, posting landfall.Posting) error {
	if supplier.Status == landfall.Paused {
		return ErrSupplierNotOngoing
	}
	var account landfall.AccountState
	err := s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		account, err = view.AccountState(ctx, posting.Key, posting.TransactionIDs)
		return err
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return errNoAccount
	}
	if err != nil {
		return userError(err)
	}
	_, err = posting.Decide(account)
	return err
}

// transactionPost is a posting of transactions with its decision function.
type transactionPost struct {
	landfall.Posting
	decide func(landfall.AccountState) ([]ledger.TransactionResult, landfall.Additions, error)
}

// transactionPosting builds the posting. The store looks up ids only with
// CheckAdded.
func transactionPosting(
	who landfall.Principal, supplier landfall.Supplier, key landfall.Key, posted []landfall.Transaction, flags TransactionFlags,
) transactionPost {
	posting := landfall.Posting{Kind: landfall.PostingTransactions, Key: key, By: who.Author()}
	if flags.CheckAdded {
		posting.TransactionIDs = make([]string, len(posted))
		for i, transaction := range posted {
			posting.TransactionIDs[i] = transaction.ID
		}
	}
	return transactionPost{posting, func(account landfall.AccountState) ([]ledger.TransactionResult, landfall.Additions, error) {
		return ledger.PostTransactions(account, ledger.TransactionPost{
			Transactions: posted, CheckAdded: flags.CheckAdded, ForceDates: flags.ForceDates,
			Today: calendar.DayOf(account.Now, calendar.Zone(supplier.TimeZone)), Now: account.Now,
		})
	}}
}

// refuseEarlier checks whether a transaction before the first malformed one could
// not be added either, because the first failing transaction decides the error. It
// returns nil when there is none or when the account cannot be read. Nothing will
// be added, so the account is only read.
func (s *Service) refuseEarlier(
	ctx context.Context, who landfall.Principal, supplier *landfall.Supplier,
	request *contract.TransactionsRequest, verdict contract.Verdict, flags TransactionFlags,
) error {
	index := request.FirstFailing(verdict)
	if supplier == nil || supplier.Status == landfall.Paused || index <= 0 {
		return nil
	}
	posting := transactionPosting(who, *supplier, request.Key(), request.Before(index), flags)
	var account landfall.AccountState
	if s.store.For(who.Caller()).View(ctx, func(view landfall.View) (err error) {
		account, err = view.AccountState(ctx, posting.Key, posting.TransactionIDs)
		return err
	}) != nil {
		return nil //nolint:nilerr // see above: it is not what is wrong first
	}
	_, _, err := posting.decide(account)
	if refusal, is := errors.AsType[*ledger.RefusedError](err); is {
		return request.Refuse(refusal.Index, refusal.Field, refusal.Code, refusal.Detail, verdict.Errors)
	}
	return nil
}
