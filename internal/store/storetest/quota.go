package storetest

import (
	"sync"
	"testing"
	"time"

	"landfall"
)

// quotas belong to an organisation and not to its keys: otherwise more keys would
// mean a higher quota.
var quotas = []promiseCheck{
	// No organisation is unlimited because its quotas were never set. Quotas
	// set to zero stay zero and do not become the defaults again: that was a
	// decision.
	{"an organisation has the default quotas until others are set", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOrganisation(ctx, organisation) })
		given := landfall.Quotas{RequestsPerSecond: 1, BytesPerDay: 1 << 40, RevisionsPerAccount: 3, TokensPerMinute: 4, ConcurrentCreations: 5}
		for _, wanted := range []landfall.Quotas{landfall.DefaultQuotas(), given, {}} {
			if wanted != landfall.DefaultQuotas() {
				update(t, store, func(tx landfall.Tx) error { return tx.SetQuotas(ctx, organisation, wanted) })
			}
			inView(t, store, func(view landfall.View) error {
				found, err := view.Organisation(ctx, organisation)
				wantEqual(t, found.Quotas, wanted)
				return err
			})
		}
		wantError(t, store.Update(ctx, func(tx landfall.Tx) error { return tx.SetQuotas(ctx, "none", given) }), landfall.ErrNotFound)
	}},
	// All replicas count the requests of one organisation at once, and a lost
	// addition would be a hole in the quota. The sum exceeds 32 bits on purpose.
	{"bytes sent on a day add up, and old days are deleted", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		update(t, store, func(tx landfall.Tx) error { return tx.CreateOrganisation(ctx, organisation) })
		add := func(day string, bytes int64) (sum int64) {
			update(t, store, func(tx landfall.Tx) (err error) {
				sum, err = tx.AddBytesSent(ctx, organisation, day, bytes)
				return err
			})
			return sum
		}
		wantEqual(t, add("2026-01-01", 5), int64(5))
		var crowd sync.WaitGroup
		for range 20 {
			crowd.Go(func() { add("2026-03-01", 1<<33) })
		}
		crowd.Wait()
		wantEqual(t, add("2026-03-01", 1), int64(20<<33+1))
		inView(t, store, func(view landfall.View) error {
			for day, wanted := range map[string]int64{"2026-01-01": 0, "2026-03-01": 20<<33 + 1, "2026-03-02": 0} {
				sent, err := view.BytesSent(ctx, organisation, day)
				if err != nil {
					return err
				}
				wantEqual(t, sent, wanted)
			}
			return nil
		})
	}},
}

// families are refresh tokens derived from one another. A refresh token that is
// used twice was stolen, and every token derived from it ends.
var families = []promiseCheck{
	// A refresh token that is used a second time was stolen, but it is unknown
	// who used it first. Ending everything derived from it certainly stops the
	// thief and costs the owner one more login. Tokens without a family are not
	// affected.
	{"a family of tokens ends as a whole", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		ends := time.Now().Add(time.Hour).Truncate(time.Microsecond).UTC()
		family := landfall.TokenFamily{ID: [32]byte{7}, EndsAt: ends}
		token := landfall.ServiceToken{Hash: [32]byte{1}, Use: landfall.RefreshToken, KeyID: "k", ExpiresAt: ends, Family: family}
		lone := landfall.ServiceToken{Hash: [32]byte{2}, Use: landfall.RefreshToken, KeyID: "k", ExpiresAt: ends}
		update(t, store, func(tx landfall.Tx) error {
			for _, step := range []func() error{
				func() error { return tx.CreateOrganisation(ctx, organisation) },
				func() error {
					return tx.CreateKey(ctx, landfall.APIKey{ID: "k", Organisation: organisation, Role: landfall.RoleImporter})
				},
				func() error { return tx.StartFamily(ctx, family) },
				func() error {
					// Starting a family again must not extend it: a stolen
					// token could be kept alive.
					return tx.StartFamily(ctx, landfall.TokenFamily{ID: family.ID, EndsAt: ends.Add(time.Hour)})
				},
				func() error { return tx.SaveTokens(ctx, token, lone) },
			} {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		})
		belongs := func(hash [32]byte, wanted landfall.TokenFamily) {
			t.Helper()
			inView(t, store, func(view landfall.View) error {
				found, _, _, err := view.Token(ctx, hash)
				wantEqual(t, found.Family, wanted)
				return err
			})
		}
		belongs(token.Hash, family)
		belongs(lone.Hash, landfall.TokenFamily{})
		update(t, store, func(tx landfall.Tx) error { return tx.EndFamily(ctx, family.ID) })
		family.Ended = true
		belongs(token.Hash, family)
		wantError(t, store.Update(ctx, func(tx landfall.Tx) error { return tx.SpendToken(ctx, token.Hash) }), landfall.ErrNotFound)
		update(t, store, func(tx landfall.Tx) error { return tx.SpendToken(ctx, lone.Hash) })
		// Starting it again does not bring it back.
		update(t, store, func(tx landfall.Tx) error { return tx.StartFamily(ctx, family) })
		belongs(token.Hash, family)
		drop := func(before time.Time, wanted int) {
			t.Helper()
			update(t, store, func(tx landfall.Tx) error {
				count, err := tx.DropEndedFamilies(ctx, before, 10)
				wantEqual(t, count, wanted)
				return err
			})
		}
		// A family may still have a token that expires at the same instant as the
		// family.
		drop(ends, 0)
		drop(ends.Add(time.Second), 1)
		// A token whose family was deleted is as invalid as the family.
		belongs(token.Hash, landfall.TokenFamily{ID: family.ID, Ended: true})
	}},
}
