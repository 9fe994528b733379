package storetest

import (
	"testing"

	"landfall"
)

var surveys = []check{
	{"claims that are alive are counted, and nothing deviates that was not touched", func(t *testing.T, store landfall.Store) {
		staged(t, store, "A-1", "A-2")
		for alive, number := range []string{"A-1", "A-2"} {
			look(t, store, func(view landfall.View) error {
				claims, err := view.ClaimsAlive(t.Context())
				if claims[code] != int64(alive) || len(claims) != min(1, alive) {
					t.Errorf("claims: %v, want %d", claims, alive)
				}
				if deviating, err := view.DeviatingAccounts(t.Context(), code); err != nil || deviating != 0 {
					t.Errorf("%d accounts deviate, %v", deviating, err)
				}
				return err
			})
			claim(t, store, wish(landfall.Key{Supplier: code, External: number}), landfall.ClaimGranted)
		}
	}},
}
