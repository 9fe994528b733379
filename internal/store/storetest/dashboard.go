package storetest

import (
	"testing"
	"time"

	"landfall"
)

// dashboardFigures are the figures that dashboards show. They are counted
// without reading accounts, and must equal what reading them would give.
var dashboardFigures = []promiseCheck{
	// The count is read before each claim, so the first count is empty: a
	// supplier with nothing in progress is left out, not reported as zero.
	{"current claims are counted, and unchanged accounts do not deviate", func(t *testing.T, store landfall.Store) {
		staged(t, store, "A-1", "A-2")
		for alive, number := range []string{"A-1", "A-2"} {
			inView(t, store, func(view landfall.View) error {
				claims, err := view.InProgress(t.Context())
				if claims[supplierCode] != int64(alive) || len(claims) != min(1, alive) {
					t.Errorf("claims: %v, want %d", claims, alive)
				}
				if deviating, err := view.DeviatingAccounts(t.Context(), supplierCode); err != nil || deviating != 0 {
					t.Errorf("%d accounts deviate, %v", deviating, err)
				}
				return err
			})
			claimFor(t, store, claimRequest(landfall.Key{Supplier: supplierCode, External: number}), landfall.ClaimGranted)
		}
	}},
	// The newest signature counts, and a supplier without one must not appear
	// with a time.
	{"the last sign-off of each supplier is returned", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		told := func() (at time.Time, signed bool) {
			inView(t, store, func(view landfall.View) error {
				times, err := view.SignedOffAt(t.Context())
				at, signed = times[supplierCode]
				if len(times) > 1 {
					t.Errorf("more were signed than there are suppliers: %v", times)
				}
				return err
			})
			return at, signed
		}
		if _, signed := told(); signed {
			t.Error("there is a sign-off")
		}
		for day := range 2 {
			when := time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC)
			update(t, store, func(tx landfall.Tx) error {
				_, err := tx.CreateSignOff(t.Context(), landfall.SignOff{
					Supplier: supplierCode, SignedAt: when, Actor: "x", Report: []byte("{}"), Page: []byte("<p>"),
				})
				return err
			})
			if at, _ := told(); !at.Equal(when) {
				t.Errorf("signed at %s, want %s", at, when)
			}
		}
	}},
}
