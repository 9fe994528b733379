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

// RestoreResult is what Restore did, and the keys that are valid now.
type RestoreResult struct {
	Tokens  int // how many were ended
	Revoked []string
	Good    []landfall.APIKey
}

// Restore allows a database restored from a backup to be served again. The
// backup does not know which keys were revoked after it was made, so all tokens
// end and the operator says which keys to revoke. It all happens in one
// transaction.
func (o *Operator) Restore(ctx context.Context, fate KeysToRevoke) (done RestoreResult, err error) {
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
		return fmt.Sprintf("tokens ended=%d, keys revoked=%s", done.Tokens, summarizeIDs(done.Revoked)), tx.AdmitCopy(ctx)
	})
	return done, err
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
