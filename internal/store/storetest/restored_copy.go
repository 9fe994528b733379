package storetest

import (
	"errors"
	"testing"
	"time"

	"landfall"
)

// restoredCopies are about a database restored from a copy: keys revoked after
// the copy was made must not be valid again.
var restoredCopies = []promiseCheck{
	// Tokens that were ended after the copy was made are valid in it. All
	// tokens are removed, since it is unknown which ones those are. The keys
	// stay, so everyone can log in again.
	{"a restored database starts without tokens", func(t *testing.T, store landfall.Store) {
		createTokens(t, store, newToken("one", landfall.AccessToken, time.Hour), newToken("two", landfall.RefreshToken, time.Hour))
		update(t, store, func(tx landfall.Tx) error {
			ended, err := tx.EndTokens(t.Context())
			if ended != 2 {
				t.Errorf("%d tokens ended", ended)
			}
			return errors.Join(err, tx.AdmitCopy(t.Context()))
		})
		inView(t, store, func(view landfall.View) error {
			_, _, _, err := view.Token(t.Context(), newToken("one", landfall.AccessToken, time.Hour).Hash)
			wantError(t, err, landfall.ErrNotFound)
			// The operator decides which keys to revoke, since only the
			// operator knows what was revoked after the copy.
			key, err := view.Key(t.Context(), "k1")
			if !key.RevokedAt.IsZero() {
				t.Error("the key was revoked with its tokens")
			}
			return err
		})
	}},
}
