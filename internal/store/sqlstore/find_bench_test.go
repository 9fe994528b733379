package sqlstore_test

import (
	"fmt"
	"testing"
	"time"

	"landfall"
)

// BenchmarkEnterTerms compares indexing the terms of accounts with creating them:
// this is the work that creations are spared.
func BenchmarkEnterTerms(b *testing.B) {
	for name, fresh := range databases {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			prepareStore(b, store)
			claims := make([]landfall.Claim, b.N+1)
			runCallers(b, b.N, func(number int) error {
				stageNumber(b, store, fmt.Sprint(number))
				claims[number] = claimNumber(b, store, fmt.Sprint(number))
				return nil
			})
			b.ResetTimer()
			runCallers(b, b.N, func(number int) error {
				account := sampleAccount(b)
				for i := range account.Data.Customers {
					customer := &account.Data.Customers[i]
					customer.FamilyName = fmt.Sprintf("%x %s", number*7919%b.N, customer.FamilyName)
					customer.Email = fmt.Sprintf("%x.%s", number*104729%b.N, customer.Email)
					customer.Mobile = fmt.Sprintf("+447%09d", number*15485863%1000000000)
				}
				_, err := store.Create(b.Context(), landfall.Creation{Claim: claims[number], Account: account})
				return err
			})
			creating := b.Elapsed()
			began := time.Now()
			for indexed, more := 0, true; more; {
				step, err := store.IndexTerms(b.Context())
				indexed, more = indexed+step.Accounts, step.More
				if err != nil || !more && indexed != b.N {
					b.Fatal(indexed, err)
				}
			}
			b.ReportMetric(float64(creating.Microseconds())/float64(b.N), "µs/creation")
			b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N), "µs/entering")
		})
	}
}
