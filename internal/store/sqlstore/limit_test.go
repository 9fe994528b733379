package sqlstore_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// openLimited opens a store with staged accounts under a concurrency limit.
func openLimited(t *testing.T, url string, limit, accounts int) (*sqlstore.Store, []landfall.ClaimRequest) {
	t.Helper()
	store := openStore(t, url)
	supplier := landfall.NewSupplier("S")
	supplier.ConcurrencyLimit = limit
	err := store.Update(t.Context(), func(tx landfall.Tx) error {
		if err := tx.CreateTeam(t.Context(), "T"); err != nil {
			return err
		}
		return tx.CreateSupplier(t.Context(), supplier)
	})
	if err != nil {
		t.Fatal(err)
	}
	var requests []landfall.ClaimRequest
	for i := range accounts {
		key := landfall.Key{Supplier: "S", External: fmt.Sprint(i)}
		if _, err := store.Stage(t.Context(), landfall.Staging{Key: key, Document: []byte(`{}`), Hash: sha256.Sum256([]byte(`{}`))}); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, landfall.ClaimRequest{Key: key, Team: "T", Lease: time.Minute, Limited: true})
	}
	return store, requests
}

// TestClaimsUnderALimitWaitForNoRow claims while another transaction has locked
// the supplier. Claims once counted under that lock, and a queue of them made
// everybody wait.
func TestClaimsUnderALimitWaitForNoRow(t *testing.T) {
	url := dbtest.Postgres(t)
	store, requests := openLimited(t, url, 2, 3)
	other := openStore(t, url)
	err := other.Update(t.Context(), func(tx landfall.Tx) error {
		if _, err := tx.Supplier(t.Context(), "S"); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		for i, want := range []landfall.ClaimVerdict{landfall.ClaimGranted, landfall.ClaimGranted, landfall.ClaimOverLimit} {
			if outcome, err := store.Claim(ctx, requests[i]); err != nil || outcome.Verdict != want {
				t.Errorf("claim %d: %+v, %v", i, outcome.Verdict, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestReplicasShareALimit lets several servers claim at the same time, single
// accounts and whole slices.
func TestReplicasShareALimit(t *testing.T) {
	const limit, accounts, replicas = 5, 60, 3
	url := dbtest.Postgres(t)
	store, requests := openLimited(t, url, limit, accounts)
	stores := []*sqlstore.Store{store}
	for range replicas - 1 {
		stores = append(stores, openStore(t, url))
	}
	var granted, over atomic.Int32
	count := func(outcomes []landfall.ClaimOutcome, err error) {
		if err != nil {
			t.Error(err)
		}
		for _, outcome := range outcomes {
			switch outcome.Verdict {
			case landfall.ClaimGranted:
				granted.Add(1)
			case landfall.ClaimOverLimit:
				over.Add(1)
			}
		}
	}
	var group sync.WaitGroup
	for i, store := range stores {
		own := requests[i*accounts/replicas : (i+1)*accounts/replicas]
		group.Go(func() { count(store.ClaimSlice(t.Context(), own[:8])) })
		for _, request := range own[8:] {
			group.Go(func() {
				outcome, err := store.Claim(t.Context(), request)
				for errors.Is(err, landfall.ErrOverloaded) { // the machine is busy
					outcome, err = store.Claim(t.Context(), request)
				}
				count([]landfall.ClaimOutcome{outcome}, err)
			})
		}
	}
	group.Wait()
	if granted.Load() != limit || over.Load() != accounts-limit {
		t.Errorf("%d granted and %d over the limit, want %d granted", granted.Load(), over.Load(), limit)
	}
}
