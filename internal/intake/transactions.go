package intake

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/books"
	"landfall/internal/calendar"
	"landfall/internal/contract"
)

// TransactionFlags are the two choices a caller has.
type TransactionFlags struct {
	CheckAdded bool // skip transactions added before
	ForceDates bool // move dates into the open statement period
}

// TransactionsReceipt says what became of every posted transaction.
type TransactionsReceipt struct {
	Results  []books.TransactionResult
	Warnings []landfall.Violation
}

// PostTransactions adds transactions to an imported account, all or none. The
// open period is looked at in the writing transaction: it cannot roll over
// between the check and the commit.
func (d *Desk) PostTransactions(
	ctx context.Context, who landfall.Principal, body []byte, flags TransactionFlags,
) (TransactionsReceipt, error) {
	request, err := contract.ReadTransactions(body)
	if err != nil {
		return TransactionsReceipt{}, err
	}
	supplier, err := d.supplier(ctx, who, request.Key().Supplier)
	if err != nil {
		return TransactionsReceipt{}, trouble(err)
	}
	verdict := request.Check(supplier, d.now(), flags.CheckAdded)
	if refusal := request.Refusal(verdict); refusal != nil {
		return TransactionsReceipt{}, refusal
	}
	if supplier == nil {
		return TransactionsReceipt{}, errNoAccount
	}
	posted := request.Transactions()
	posting := landfall.Posting{Key: request.Key(), By: who.Author()}
	if flags.CheckAdded {
		posting.TransactionIDs = make([]string, len(posted))
		for i, transaction := range posted {
			posting.TransactionIDs[i] = transaction.ID
		}
	}
	receipt := TransactionsReceipt{Warnings: verdict.Warnings}
	posting.Decide = func(account landfall.AccountBooks) (landfall.Additions, error) {
		results, additions, err := books.PostTransactions(account, books.TransactionPost{
			Transactions: posted, CheckAdded: flags.CheckAdded, ForceDates: flags.ForceDates,
			Today: calendar.DayOf(account.Now, calendar.Zone(supplier.TimeZone)), Now: account.Now,
		})
		if refusal, is := errors.AsType[*books.RefusedError](err); is {
			return landfall.Additions{}, request.Refuse(refusal.Index, refusal.Field, refusal.Code, refusal.Detail)
		}
		receipt.Results = results
		additions.Event = event(landfall.EventTransactionsCreated, request.Key(), len(additions.Entries))
		return additions, err
	}
	if _, err := d.post(ctx, posting, errNoAccount); err != nil {
		return TransactionsReceipt{}, err
	}
	return receipt, nil
}
