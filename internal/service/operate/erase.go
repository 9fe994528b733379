package operate

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// Erase takes away for good what is personal of an account. Its numbers and its
// books stay, and that it was there. The reason is kept in the audit: no place
// for personal data.
func (o *Operator) Erase(ctx context.Context, key landfall.Key, reason string) (landfall.Erasure, error) {
	if err := checkLine("reason", "The reason", reason, longestReason); err != nil {
		return landfall.Erasure{}, err
	}
	var erasure landfall.Erasure
	err := o.change(ctx, "account.erase", auditSubject(key), func(tx landfall.Tx) (string, error) {
		var err error
		erasure, err = tx.Erase(ctx, key)
		if errors.Is(err, landfall.ErrExists) {
			return "", landfall.Refuse(landfall.CodeImportInProgress,
				"The account is being created right now. Try again when that attempt has ended.")
		}
		if err != nil {
			return "", processError(ctx, tx, key, err)
		}
		return fmt.Sprintf("%d revisions, account %q: %s", erasure.Revisions, erasure.AccountNumber, reason), nil
	})
	if err != nil {
		return landfall.Erasure{}, err
	}
	return erasure, nil
}

// ExportAccount gives everything known about a person's account, for the
// person. That somebody saw it is kept in the audit, with the reason.
func (o *Operator) ExportAccount(ctx context.Context, key landfall.Key, reason string) (AccountFacts, error) {
	if err := checkLine("reason", "The reason", reason, longestReason); err != nil {
		return AccountFacts{}, err
	}
	facts, err := o.ShowAccount(ctx, key)
	if err != nil {
		return AccountFacts{}, err
	}
	err = o.change(ctx, "account.export", auditSubject(key), func(landfall.Tx) (string, error) { return reason, nil })
	if err != nil {
		return AccountFacts{}, err
	}
	return facts, nil
}
