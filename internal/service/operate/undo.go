package operate

import (
	"context"
	"errors"
	"fmt"

	"landfall"
	"landfall/internal/lib/calendar"
	"landfall/internal/service/audit"
)

// Undo undoes the creation of an account: the account is only staged again, and
// keeps its number for when it is created again. The reason is stored in the audit
// and with the number, so it must not contain personal data. An account that can
// no longer be undone is refused with the reason why it is kept.
func (o *Operator) Undo(ctx context.Context, key landfall.Key, reason string) (landfall.UndoOutcome, error) {
	return o.UndoWithPostings(ctx, key, reason, nil)
}

// UndoWithPostings is Undo for an account that postings would keep: they are saved
// in an archive first. Without an archive it is Undo.
func (o *Operator) UndoWithPostings(ctx context.Context, key landfall.Key, reason string, archive PostingArchive) (landfall.UndoOutcome, error) {
	if err := checkLine("reason", "The reason", reason, maxReasonLength); err != nil {
		return landfall.UndoOutcome{}, err
	}
	outcome, err := o.undoSaved(ctx, o.undoRequest(key, reason, ""), archive)
	if err == nil && outcome.Verdict == landfall.Undone {
		audit.ChainSoon(ctx, o.store)
	}
	switch {
	case err != nil:
		return landfall.UndoOutcome{}, undoError("account.undo", err)
	case outcome.Verdict == landfall.UndoKept:
		return outcome, landfall.Refuse(string(outcome.Kept), keptDetails[outcome.Kept])
	case outcome.Verdict == landfall.UndoNoAccount:
		return outcome, o.nothingToUndo(ctx, key)
	}
	return outcome, nil
}

// undoRequest includes who undoes the account, because the store writes the
// audit entry in the transaction that removes the account.
func (o *Operator) undoRequest(key landfall.Key, reason, run string) landfall.UndoRequest {
	return landfall.UndoRequest{Key: key, Reason: reason, Run: run, Actor: o.actor, Source: o.source, RequestID: o.request}
}

// keptDetails explains to people why an account is kept.
var keptDetails = map[landfall.KeptReason]string{
	landfall.KeptWindowOver: "The account is kept: it was created longer ago than the supplier's undo window. " +
		"See it with: supplier show; change it with: supplier set --undo-window",
	landfall.KeptHasPostings: "The account is kept: something was added to it that did not come with its delivery. " +
		"To undo it all the same, and save what was added, use: account undo --with-all-postings FOLDER",
	landfall.KeptErased: "The account is kept: its personal data was erased, so it cannot be staged again.",
	landfall.KeptDamaged: "The account is kept: its stored document is damaged or missing, so it could not be created again. " +
		"See what is damaged with: landfall verify",
	landfall.KeptDelivered: "The account is kept: it was delivered to its target, or a delivery is under way, and the target does not take accounts back. " +
		"See: landfall target show",
	landfall.KeptCustomersTold: "The account is kept: its customers were sent a mail about it, or one is being sent.",
}

// nothingToUndo says why there is no account to undo. If the answer to an
// earlier undo was lost, it says that the account was undone.
func (o *Operator) nothingToUndo(ctx context.Context, key landfall.Key) error {
	return o.view(ctx, "account.undo", func(view landfall.View) error {
		if _, err := view.Process(ctx, key); err != nil {
			return processError(ctx, view, key, err)
		}
		before, err := view.UndoneAccounts(ctx, key)
		if err != nil {
			return err
		}
		detail := "The account has not been created, so there is nothing to undo."
		if last := len(before) - 1; last >= 0 {
			detail = fmt.Sprintf("There is nothing to undo: account %s was undone at %s and not created again.",
				before[last].Number, calendar.FormatInstant(before[last].UndoneAt))
		}
		return landfall.Refuse(landfall.CodeAccountNotFound, detail)
	})
}

// ForecastUndoOf returns what the undo of one account would do.
func (o *Operator) ForecastUndoOf(ctx context.Context, key landfall.Key, allPostings bool) (forecast landfall.UndoForecast, err error) {
	err = o.view(ctx, "account.undo", func(view landfall.View) (err error) {
		forecast, err = view.UndoForecast(ctx, landfall.UndoForecastQuery{Key: key, AllPostings: allPostings})
		return err
	})
	if err == nil && forecast.Undoable+len(forecast.KeptAccounts) == 0 {
		err = o.nothingToUndo(ctx, key)
	}
	return forecast, err
}

// undoError is storeError for errors that may come from an archive, which are
// reported as they are.
func undoError(doing string, err error) error {
	if local, is := errors.AsType[archiveError](err); is {
		return local.error
	}
	return storeError(doing, err)
}
