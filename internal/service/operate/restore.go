package operate

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"landfall"
)

// KeysToRevoke says which keys of a database that was put back are ended.
type KeysToRevoke struct {
	All bool     // whatever there is
	IDs []string // these; unknown ones came after the copy was made
}

// RestoreResult is what Restore did, and the keys that are good now.
type RestoreResult struct {
	Tokens  int // that were ended
	Revoked []string
	Good    []landfall.APIKey
}

// Restore lets a database that was put back from a backup be served again. A
// copy knows nothing of keys that were revoked since it was made, so every token
// ends with it and the operator says which keys do: all in one transaction.
func (o *Operator) Restore(ctx context.Context, fate KeysToRevoke) (done RestoreResult, err error) {
	err = o.change(ctx, "database.restore", "", func(tx landfall.Tx) (string, error) {
		// A transaction may be run again, and what was gathered before does not
		// count.
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
			// What is over anyway needs no end, and must not be told as good either.
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

// summarizeIDs names a few, and counts many.
func summarizeIDs(ids []string) string {
	switch {
	case len(ids) == 0:
		return "none"
	case len(ids) > 50:
		return strconv.Itoa(len(ids))
	}
	return strings.Join(ids, " ")
}
