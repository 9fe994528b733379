package storetest

import (
	"crypto/sha256"
	"testing"
	"time"

	"landfall"
)

// apiKey returns a key with a hash derived from its id, since keys are looked up
// by hash.
func apiKey(id string) landfall.APIKey {
	return landfall.APIKey{ID: id, Organisation: organisation, Role: landfall.RoleImporter, SecretHash: sha256.Sum256([]byte(id))}
}

// newToken returns a token that expires at a whole microsecond, the precision of
// both databases.
func newToken(text string, use landfall.TokenUse, end time.Duration) landfall.ServiceToken {
	return landfall.ServiceToken{
		Hash: sha256.Sum256([]byte(text)), Use: use, KeyID: "k1",
		ExpiresAt: time.Now().Add(end).UTC().Truncate(time.Microsecond),
	}
}

// createTokens creates an organisation with the key k1 and gives it tokens.
func createTokens(t *testing.T, store landfall.Store, tokens ...landfall.ServiceToken) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		if err := tx.CreateOrganisation(t.Context(), organisation); err != nil {
			return err
		}
		if err := tx.CreateKey(t.Context(), apiKey("k1")); err != nil {
			return err
		}
		return tx.SaveTokens(t.Context(), tokens...)
	})
}

// credentials are about authentication. Revoked or expired credentials are
// refused, and no secret is stored in a usable form.
var credentials = []promiseCheck{
	// Disabling is the quickest way to stop an organisation, and it can be
	// undone, so it must not lose any of the organisation's data.
	{"an organisation is stored and can be disabled", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.CreateOrganisation(t.Context(), organisation); err != nil {
				return err
			}
			wantError(t, tx.CreateOrganisation(t.Context(), organisation), landfall.ErrExists)
			wantError(t, tx.SetOrganisationDisabled(t.Context(), "none", true), landfall.ErrNotFound)
			_, err := tx.Organisation(t.Context(), "none")
			wantError(t, err, landfall.ErrNotFound)
			found, err := tx.Organisation(t.Context(), organisation)
			recent(t, found.CreatedAt)
			if found.Disabled {
				t.Error("it is disabled from the beginning")
			}
			return err
		})
		for _, disabled := range []bool{true, false} {
			update(t, store, func(tx landfall.Tx) error {
				return tx.SetOrganisationDisabled(t.Context(), organisation, disabled)
			})
			inView(t, store, func(view landfall.View) error {
				all, err := view.Organisations(t.Context())
				if len(all) != 1 || all[0].Name != organisation || all[0].Disabled != disabled {
					t.Errorf("got %+v", all)
				}
				return err
			})
		}
	}},
	// The role and the expiry limit a key. A key read back with more rights or
	// a later expiry than it was given would allow what was meant to be
	// forbidden. The expiry has microseconds, the precision of both databases.
	{"a key is stored with all fields", func(t *testing.T, store landfall.Store) {
		given := apiKey("k2")
		given.Role, given.ExpiresAt = landfall.RoleViewer, time.Date(2030, 1, 2, 3, 4, 5, 6000, time.UTC)
		createTokens(t, store)
		update(t, store, func(tx landfall.Tx) error { return tx.CreateKey(t.Context(), given) })
		inView(t, store, func(view landfall.View) error {
			found, err := view.Key(t.Context(), "k2")
			recent(t, found.CreatedAt)
			given.CreatedAt = found.CreatedAt
			if found != given {
				t.Errorf("got %+v, want %+v", found, given)
			}
			return err
		})
	}},
	// A key without an organisation could not be stopped by disabling its
	// organisation, and a second key with the id of the first would replace its
	// secret.
	{"a key needs an organisation and exists once", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.CreateKey(t.Context(), apiKey("k1")), landfall.ErrNotFound)
			return nil
		})
		createTokens(t, store)
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.CreateKey(t.Context(), apiKey("k1")), landfall.ErrExists)
			return nil
		})
	}},
	// An organisation must not see the keys of others.
	{"keys are listed by organisation, oldest first", func(t *testing.T, store landfall.Store) {
		createTokens(t, store)
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.CreateOrganisation(t.Context(), "Other"); err != nil {
				return err
			}
			other := apiKey("k0")
			other.Organisation = "Other"
			return tx.CreateKey(t.Context(), other)
		})
		inView(t, store, func(view landfall.View) error {
			mine, err := view.Keys(t.Context(), organisation)
			if err != nil {
				return err
			}
			all, err := view.Keys(t.Context(), "")
			if len(mine) != 1 || mine[0].ID != "k1" || len(all) != 2 {
				t.Errorf("got %+v and %+v", mine, all)
			}
			return err
		})
	}},
	// After a theft it matters when the key was revoked. Revoking it again, to be
	// sure, must not make it look as if it had been valid until then.
	{"a revoked key keeps the first time", func(t *testing.T, store landfall.Store) {
		createTokens(t, store)
		var times []time.Time
		for range 2 {
			update(t, store, func(tx landfall.Tx) error { return tx.RevokeKey(t.Context(), "k1") })
			inView(t, store, func(view landfall.View) error {
				found, err := view.Key(t.Context(), "k1")
				times = append(times, found.RevokedAt)
				return err
			})
		}
		recent(t, times[0])
		if !times[1].Equal(times[0]) {
			t.Errorf("revoked at %v, then at %v", times[0], times[1])
		}
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.RevokeKey(t.Context(), "none"), landfall.ErrNotFound)
			_, err := tx.Key(t.Context(), "none")
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// A rotation keeps the old key valid for a short time. A later rotation
	// with a longer overlap must not extend a key that is about to expire.
	{"a key's expiry only moves to an earlier time", func(t *testing.T, store landfall.Store) {
		createTokens(t, store)
		soon, later := time.UnixMicro(2e15).UTC(), time.UnixMicro(3e15).UTC()
		// The last time is later than the stored one and must change nothing.
		for _, at := range []time.Time{later, soon, later} {
			update(t, store, func(tx landfall.Tx) error { return tx.ExpireKey(t.Context(), "k1", at) })
		}
		inView(t, store, func(view landfall.View) error {
			found, err := view.Key(t.Context(), "k1")
			if !found.ExpiresAt.Equal(soon) {
				t.Errorf("ends at %v", found.ExpiresAt)
			}
			return err
		})
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.ExpireKey(t.Context(), "none", soon), landfall.ErrNotFound)
			return nil
		})
	}},
	// Every request is authenticated by this one query: a token is only as
	// valid as its key and its organisation.
	{"a token is found with its key and organisation", func(t *testing.T, store landfall.Store) {
		given := newToken("a", landfall.AccessToken, time.Hour)
		createTokens(t, store, given)
		inView(t, store, func(view landfall.View) error {
			found, owner, whose, err := view.Token(t.Context(), given.Hash)
			if found != given || owner.ID != "k1" || owner.SecretHash != apiKey("k1").SecretHash || whose.Name != organisation {
				t.Errorf("got %+v, %+v, %+v", found, owner, whose)
			}
			_, _, _, absent := view.Token(t.Context(), [32]byte{})
			wantError(t, absent, landfall.ErrNotFound)
			return err
		})
	}},
	// A token without a key could not be revoked.
	{"a token needs a key", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.SaveTokens(t.Context(), newToken("a", landfall.AccessToken, time.Hour)), landfall.ErrNotFound)
			return nil
		})
	}},
	// A refresh token that could be used again would be as good as the key for
	// anyone who finds it in a log. Expired tokens, tokens for another use and
	// unknown tokens all get the same response, so that it does not reveal
	// which of them exist.
	{"a refresh token can be used once", func(t *testing.T, store landfall.Store) {
		good := newToken("good", landfall.RefreshToken, time.Hour)
		late := newToken("late", landfall.RefreshToken, -time.Hour)
		access := newToken("access", landfall.AccessToken, time.Hour)
		createTokens(t, store, good, late, access)
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.SpendToken(t.Context(), good.Hash); err != nil {
				return err
			}
			for _, hash := range [][32]byte{good.Hash, late.Hash, access.Hash, {}} {
				wantError(t, tx.SpendToken(t.Context(), hash), landfall.ErrNotFound)
			}
			found, _, _, err := tx.Token(t.Context(), good.Hash)
			recent(t, found.SpentAt)
			return err
		})
	}},
	// Otherwise a thief could go on from token to token after the key was
	// revoked.
	{"a refresh token of a revoked key is refused", func(t *testing.T, store landfall.Store) {
		good := newToken("good", landfall.RefreshToken, time.Hour)
		createTokens(t, store, good)
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.RevokeKey(t.Context(), "k1"); err != nil {
				return err
			}
			wantError(t, tx.SpendToken(t.Context(), good.Hash), landfall.ErrNotFound)
			return nil
		})
	}},
	// Every login creates a token, so without this the table would grow forever.
	{"expired tokens are deleted", func(t *testing.T, store landfall.Store) {
		old, young := newToken("old", landfall.AccessToken, -time.Hour), newToken("young", landfall.AccessToken, time.Hour)
		createTokens(t, store, old, young)
		update(t, store, func(tx landfall.Tx) error {
			count, err := tx.DropExpiredTokens(t.Context(), time.Now(), 10)
			if count != 1 {
				t.Errorf("%d were deleted", count)
			}
			_, _, _, absent := tx.Token(t.Context(), old.Hash)
			wantError(t, absent, landfall.ErrNotFound)
			_, _, _, there := tx.Token(t.Context(), young.Hash)
			if there != nil {
				t.Error(there)
			}
			return err
		})
	}},
	// After a long time without cleanup there may be millions, and one
	// statement over all of them would block every login. The tokens are saved
	// out of order, so that the oldest are not simply the first ones saved.
	{"expired tokens are deleted in limited batches, the oldest first", func(t *testing.T, store landfall.Store) {
		oldest, older, old := newToken("a", landfall.AccessToken, -3*time.Hour), newToken("b", landfall.AccessToken, -2*time.Hour), newToken("c", landfall.AccessToken, -time.Hour)
		createTokens(t, store, older, old, oldest)
		update(t, store, func(tx landfall.Tx) error {
			count, err := tx.DropExpiredTokens(t.Context(), time.Now(), 2)
			if count != 2 {
				t.Errorf("%d were deleted", count)
			}
			if _, _, _, there := tx.Token(t.Context(), old.Hash); there != nil {
				t.Error(there)
			}
			return err
		})
	}},
}
