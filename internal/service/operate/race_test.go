package operate_test

import (
	"fmt"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/service/operate"
)

// A pause and a concurrent change of name once both reported success, but the
// supplier stayed Ongoing.
func TestChangesOfOneSupplierAtOnceAreAllKept(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		for round := range 5 {
			code := fmt.Sprintf("S%d", round)
			must(t, second(d.CreateSupplier(ctx, code, operate.SupplierChange{})))
			atOnce(t,
				operate.SupplierChange{Status: new(landfall.Paused)}, operate.SupplierChange{Name: new("North")},
				operate.SupplierChange{Currency: new("EUR")}, operate.SupplierChange{ConcurrencyLimit: new(7)},
			)(func(change operate.SupplierChange) error { return second(d.SetSupplier(ctx, code, change)) })
			found, err := d.ShowSupplier(ctx, code)
			must(t, err)
			if found.Status != landfall.Paused || found.Name != "North" || found.Currency != "EUR" || found.ConcurrencyLimit != 7 {
				t.Errorf("a change was lost: %+v", found.Supplier)
			}
		}
	})
}

func TestQuotasSetAtOnceAreAllKept(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		for round := range 5 {
			name := fmt.Sprintf("Acme %d", round)
			must(t, d.CreateOrganisation(ctx, name))
			atOnce(t,
				operate.QuotaChange{RequestsPerSecond: new(int64(1))}, operate.QuotaChange{BytesPerDay: new(int64(2))},
				operate.QuotaChange{RevisionsPerAccount: new(int64(3))}, operate.QuotaChange{ConcurrentCreations: new(int64(4))},
			)(func(change operate.QuotaChange) error { return second(d.SetQuotas(ctx, name, change)) })
			found, err := d.ShowOrganisation(ctx, name)
			must(t, err)
			same(t, "the quotas", found.Quotas, landfall.Quotas{
				RequestsPerSecond: 1, BytesPerDay: 2, RevisionsPerAccount: 3, TokensPerMinute: 600, ConcurrentCreations: 4,
			})
		}
	})
}

// A key rotated without overlap has one successor, however many rotations run
// concurrently.
func TestOneOfTwoRotationsWins(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, d.CreateOrganisation(ctx, "Acme"))
		for range 5 {
			key, _, err := d.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: landfall.RoleImporter})
			must(t, err)
			results := make([]error, 4)
			var crowd sync.WaitGroup
			for i := range results {
				crowd.Go(func() { _, _, results[i] = d.RotateKey(ctx, key.ID, 0) })
			}
			crowd.Wait()
			won := 0
			for _, err := range results {
				if err == nil {
					won++
				} else {
					refusal(t, "a rotation that lost", err, landfall.CodeValidationFailed, "has expired")
				}
			}
			same(t, "how many won", won, 1)
		}
	})
}

// atOnce makes all changes concurrently; each must succeed.
func atOnce[C any](t *testing.T, changes ...C) func(change func(C) error) {
	t.Helper()
	return func(change func(C) error) {
		var crowd sync.WaitGroup
		for _, one := range changes {
			crowd.Go(func() {
				if err := change(one); err != nil {
					t.Error(err)
				}
			})
		}
		crowd.Wait()
	}
}
