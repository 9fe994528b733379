package intake

import (
	"context"
	"errors"
	"sync"
	"testing"

	"landfall"
)

func TestSupplierIsLoadedOnce(t *testing.T) {
	service, store := newTestService(t)
	store.hold = make(chan struct{})
	var callers sync.WaitGroup
	for range 20 {
		callers.Go(func() {
			if found, err := service.Supplier(t.Context(), ours, "S"); err != nil || found == nil || found.Code != "S" {
				t.Errorf("got %v, %v", found, err)
			}
		})
	}
	close(store.hold)
	callers.Wait()
	if asked := store.views.Load(); asked != 1 {
		t.Errorf("the store was asked %d times", asked)
	}
}

func TestSupplierCacheExpires(t *testing.T) {
	service, store := newTestService(t)
	find := func() *landfall.Supplier {
		t.Helper()
		found, err := service.Supplier(t.Context(), ours, "S")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	if find() == nil {
		t.Fatal("a granted supplier is not found")
	}
	updateStore(t, store, func(ctx context.Context, tx landfall.Tx) error { return tx.Ungrant(ctx, "S", "ours") })
	store.advance(supplierCacheLimits.TTL - 1)
	if find() == nil {
		t.Error("forgotten too early")
	}
	store.advance(1)
	if find() != nil {
		t.Error("a supplier is used after its grant was revoked")
	}
}

func TestSupplierFailureIsNotCached(t *testing.T) {
	service, store := newTestService(t)
	store.failure = landfall.ErrUnavailable
	if _, err := service.Supplier(t.Context(), ours, "S"); !errors.Is(err, landfall.ErrUnavailable) {
		t.Fatal(err)
	}
	store.failure = nil
	if found, err := service.Supplier(t.Context(), ours, "S"); err != nil || found == nil {
		t.Errorf("got %v, %v", found, err)
	}
}
