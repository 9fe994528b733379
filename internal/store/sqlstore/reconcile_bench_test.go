package sqlstore_test

import (
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/upkeep"
	"landfall/internal/test/dbtest"
)

// BenchmarkReconcile reads the sums of a supplier with a million accounts, with
// compacted rows and with as many uncompacted ones as a busy minute leaves.
func BenchmarkReconcile(b *testing.B) {
	for name, fresh := range dbtest.Fresh {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			if err := store.Update(b.Context(), func(tx landfall.Tx) error {
				return tx.CreateSupplier(b.Context(), landfall.NewSupplier("BENCH"))
			}); err != nil {
				b.Fatal(err)
			}
			// These are twenty thousand batches of fifty.
			if err := store.Force(b.Context(), `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
				INSERT INTO tally (supplier_id, standing, figures)
				SELECT s.id, 'created', 'GBP 50 60 70 10 0 40 -123456 100 99999 5 500 200 300000 0 0 80 70000' FROM n CROSS JOIN supplier s`); err != nil {
				b.Fatal(err)
			}
			ask := func() {
				err := store.View(b.Context(), func(reader landfall.View) error {
					found, err := reader.Tallies(b.Context(), "BENCH")
					if got := found.Of(landfall.StatusCreated, "GBP")[landfall.AtAccounts].Count(); got != 1_000_000 {
						b.Fatalf("%d accounts", got)
					}
					return err
				})
				if err != nil {
					b.Fatal(err)
				}
			}
			began := time.Now()
			ask()
			unfolded := time.Since(began)
			for less := 1; less > 0; {
				var err error
				if less, err = upkeep.CompactTallies(b.Context(), store); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				ask()
			}
			b.ReportMetric(float64(unfolded.Milliseconds()), "ms/unfolded")
		})
	}
}
