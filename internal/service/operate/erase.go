package operate

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// Erase permanently removes the personal data of an account. Its numbers, its
// ledger and the fact that it existed stay. The reason is stored in the audit,
// so it must not contain personal data.
func (o *Operator) Erase(ctx context.Context, key landfall.Key, reason string) (landfall.Erasure, error) {
	if err := checkLine("reason", "The reason", reason, maxReasonLength); err != nil {
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

// ExportAccount returns everything known about a person's account, to be given
// to that person. The export and its reason are recorded in the audit.
func (o *Operator) ExportAccount(ctx context.Context, key landfall.Key, reason string) (AccountFacts, error) {
	if err := checkLine("reason", "The reason", reason, maxReasonLength); err != nil {
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
