package operate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"landfall"
)

// KeysToRevoke says which keys of a restored database to revoke.
type KeysToRevoke struct {
	All bool     // revoke every key
	IDs []string // revoke these; unknown ones were created after the backup
}

// OperatorsToKeep says which operators of a restored database may still sign in.
type OperatorsToKeep struct {
	All   bool
	Names []string
}

// RestoreResult is what Restore did, and the keys and operators that are valid now.
type RestoreResult struct {
	Tokens   int // how many were ended
	Revoked  []string
	Good     []landfall.APIKey
	Disabled []string
	Kept     []string // operators who can sign in
}

// Restore allows a database restored from a backup to be served again. The
// backup does not know which keys were revoked and which operators were disabled
// after it was made. So all tokens, sessions, invitations and recovery codes end,
// the caller says which keys to revoke, and operators who are not named are
// disabled. It all happens in one transaction.
func (o *Operator) Restore(ctx context.Context, fate KeysToRevoke, keep OperatorsToKeep) (done RestoreResult, err error) {
	err = o.change(ctx, "database.restore", "", func(tx landfall.Tx) (string, error) {
		// The transaction may run more than once. Discard the results of an
		// earlier run.
		done = RestoreResult{}
		var err error
		if done.Tokens, err = tx.EndTokens(ctx); err != nil {
			return "", err
		}
		keys, err := tx.Keys(ctx, "")
		if err != nil {
			return "", err
		}
		now := o.clock()
		for _, key := range keys {
			switch {
			// A key that has already ended need not be revoked, and must not be
			// reported as valid.
			case !key.RevokedAt.IsZero() || !key.ExpiresAt.IsZero() && !now.Before(key.ExpiresAt):
			case fate.All || slices.Contains(fate.IDs, key.ID):
				if err := tx.RevokeKey(ctx, key.ID); err != nil {
					return "", err
				}
				done.Revoked = append(done.Revoked, key.ID)
			default:
				done.Good = append(done.Good, key)
			}
		}
		if err := o.restoreOperators(ctx, tx, keep, &done); err != nil {
			return "", err
		}
		return fmt.Sprintf("tokens ended=%d, keys revoked=%s, operators disabled=%s", done.Tokens, summarizeIDs(done.Revoked), summarizeIDs(done.Disabled)),
			tx.AdmitCopy(ctx)
	})
	return done, err
}

// restoreOperators disables the operators that are not kept, and ends what can be
// used once: it may have been used since the backup.
func (o *Operator) restoreOperators(ctx context.Context, tx landfall.Tx, keep OperatorsToKeep, done *RestoreResult) error {
	operators, err := tx.Operators(ctx)
	if err != nil {
		return err
	}
	known := namesOf(operators, func(operator landfall.Operator) string { return operator.Name })
	for _, name := range keep.Names {
		if !slices.Contains(known, name) {
			if len(known) == 0 {
				return notFound(landfall.CodeNotFound, "The backup has no operators, so there is none to keep: leave --keep-operators out.")
			}
			return notFound(landfall.CodeNotFound, "The backup has no operator %q. Its operators are: %s", name, strings.Join(known, ", "))
		}
	}
	for _, operator := range operators {
		was := operator.Disabled
		if _, err := o.disable(ctx, tx, &operator); err != nil {
			return err
		}
		operator.RecoveryCodes = nil
		// A passkey may have been removed since.
		if err := tx.RemovePasskeys(ctx, operator.Name); err != nil {
			return err
		}
		switch {
		case was:
		case keep.All || slices.Contains(keep.Names, operator.Name):
			operator.Disabled = false
			done.Kept = append(done.Kept, operator.Name)
		default:
			done.Disabled = append(done.Disabled, operator.Name)
		}
		if err := tx.SaveOperator(ctx, operator); err != nil {
			return err
		}
	}
	return nil
}

// summarizeIDs lists a few ids, and only counts many.
func summarizeIDs(ids []string) string {
	switch {
	case len(ids) == 0:
		return "none"
	case len(ids) > 50:
		return strconv.Itoa(len(ids))
	}
	return strings.Join(ids, " ")
}
