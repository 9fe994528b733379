package sqlstore_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"landfall/internal/test/dbtest"

	"landfall"
)

// twoKilobytes returns a staging of about the size of a usual account.
func twoKilobytes(number int) landfall.Staging {
	customer := []byte(`{"given_name": "Ada", "family_name": "Lovelace", "email": "ada@example.com"}`)
	text := fmt.Appendf(nil, `{"number": %d, "customers": [%s]}`, number, bytes.Join(slices.Repeat([][]byte{customer}, 25), []byte(", ")))
	return landfall.Staging{
		Key:      landfall.Key{Supplier: "BENCH", External: fmt.Sprintf("N-%09d", number)},
		Document: text, Hash: sha256.Sum256(text),
	}
}

// BenchmarkStage stages new accounts from 64 callers at once.
func BenchmarkStage(b *testing.B) {
	for name, fresh := range dbtest.Fresh {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			if err := store.Update(b.Context(), func(tx landfall.Tx) error {
				return tx.CreateSupplier(b.Context(), landfall.NewSupplier("BENCH"))
			}); err != nil {
				b.Fatal(err)
			}
			var next atomic.Int64
			var callers sync.WaitGroup
			b.ResetTimer()
			for range 64 {
				callers.Go(func() {
					for number := next.Add(1); number <= int64(b.N); number = next.Add(1) {
						outcome, err := store.Stage(b.Context(), twoKilobytes(int(number)))
						if err != nil || outcome.Verdict != landfall.StagedFirst {
							b.Error(outcome, err)
							return
						}
					}
				})
			}
			callers.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "stagings/s")
		})
	}
}

// BenchmarkList streams a hundred thousand processes.
func BenchmarkList(b *testing.B) {
	const rows = 100_000
	for name, fresh := range dbtest.Fresh {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			if err := store.Update(b.Context(), func(tx landfall.Tx) error {
				return tx.CreateSupplier(b.Context(), landfall.NewSupplier("BENCH"))
			}); err != nil {
				b.Fatal(err)
			}
			var next atomic.Int64
			var callers sync.WaitGroup
			for range 128 {
				callers.Go(func() {
					for number := next.Add(1); number <= rows; number = next.Add(1) {
						staging := twoKilobytes(int(number))
						staging.Document = []byte(`{}`)
						if _, err := store.Stage(b.Context(), staging); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			callers.Wait()
			for b.Loop() {
				count := 0
				for _, err := range store.List(b.Context(), landfall.ProcessQuery{Supplier: "BENCH"}) {
					if err != nil {
						b.Fatal(err)
					}
					count++
				}
				if count != rows {
					b.Fatalf("%d rows", count)
				}
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
