package storetest

import (
	"errors"
	"testing"
	"time"

	"landfall"
)

// places are about a copy of the database that is put back: keys that were revoked
// after it was made must not be good again.
var places = []promiseCheck{
	// Tokens that were ended after the copy was made are good in it. All of them go,
	// since nobody knows which; the keys stay, and with them everybody can log in
	// again.
	{"a database that is put back starts without tokens", func(t *testing.T, store landfall.Store) {
		enrol(t, store, newToken("one", landfall.AccessToken, time.Hour), newToken("two", landfall.RefreshToken, time.Hour))
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
			// Which keys end is the operator's decision, who knows what was revoked
			// since the copy.
			key, err := view.Key(t.Context(), "k1")
			if !key.RevokedAt.IsZero() {
				t.Error("the key was revoked with its tokens")
			}
			return err
		})
	}},
}
