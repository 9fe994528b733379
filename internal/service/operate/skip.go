package operate

import (
	"context"
	"errors"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// Skip marks an account so that it is no longer staged or created. The account
// need not have been staged before. The reason is optional. It is shown to
// everyone who looks at the process and stored in the audit, so it must not
// contain personal data.
func (o *Operator) Skip(ctx context.Context, key landfall.Key, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	if !contract.ValidExternalNumber(key.External) {
		return invalid("external_account_number", rules.CodeInvalidCharacters, "The external account number is not valid: "+
			"it must have 1 to 128 characters, no control characters, and no spaces at the ends.")
	}
	return o.change(ctx, "account.skip", auditSubject(key), func(tx landfall.Tx) (string, error) {
		state, err := tx.Skip(ctx, key, reason)
		if errors.Is(err, landfall.ErrExists) {
			return "", notSkippable(state)
		}
		if err != nil {
			return "", processError(ctx, tx, key, err)
		}
		return reason, tx.AppendEvent(ctx, landfall.Event{Type: landfall.EventSkipped, Key: key})
	})
}

// Unskip removes the mark, so that the account can be staged and created again.
// The reason is optional and stored in the audit.
func (o *Operator) Unskip(ctx context.Context, key landfall.Key, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return o.change(ctx, "account.unskip", auditSubject(key), func(tx landfall.Tx) (string, error) {
		process, err := tx.Process(ctx, key)
		if err != nil {
			return "", processError(ctx, tx, key, err)
		}
		if !process.ErasedAt.IsZero() {
			return "", landfall.Refuse(landfall.CodeErased, "The account's personal data was erased, so it stays marked as skipped.")
		}
		if err := tx.Unskip(ctx, key); err != nil {
			return "", replaceError(err, landfall.ErrNotFound, landfall.Refuse(landfall.CodeValidationFailed,
				"The account is not marked as skipped."))
		}
		return reason, tx.AppendEvent(ctx, landfall.Event{Type: landfall.EventUnskipped, Key: key})
	})
}

// Release frees an account from a claim, for when its holder is known to be gone
// and its lease has long to go. A holder that still works cannot create the
// account any more and its caller is asked to try again, so nothing is created
// twice. The reason is optional and stored in the audit.
func (o *Operator) Release(ctx context.Context, key landfall.Key, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return o.change(ctx, "account.release", auditSubject(key), func(tx landfall.Tx) (string, error) {
		if _, err := tx.Process(ctx, key); err != nil {
			return "", processError(ctx, tx, key, err)
		}
		return reason, replaceError(tx.FreeClaim(ctx, key), landfall.ErrNotFound, landfall.Refuse(landfall.CodeValidationFailed,
			"The account is not being created, so there is no claim to free."))
	})
}

// checkReason accepts an empty reason, but not a blank one.
func checkReason(reason string) error {
	if reason == "" {
		return nil
	}
	return checkLine("reason", "The reason", reason, maxReasonLength)
}

// notSkippable says why a process in this state cannot be marked.
func notSkippable(state landfall.ProcessState) *landfall.Error {
	switch state {
	case landfall.Imported:
		return landfall.Refuse(landfall.CodeAlreadyImported,
			"The account was already imported and cannot be skipped.")
	case landfall.Claimed:
		return landfall.Refuse(landfall.CodeImportInProgress,
			"The account is being created right now. Try again when that attempt has ended.")
	}
	return landfall.Refuse(landfall.CodeMarkedAsSkipped, "The account is already marked as skipped.")
}

// auditSubject returns the name of a process in the audit.
func auditSubject(key landfall.Key) string { return key.Supplier + "/" + key.External }
