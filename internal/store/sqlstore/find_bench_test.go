package sqlstore_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"landfall/internal/test/dbtest"
)

// BenchmarkEnterTerms compares indexing the terms of accounts with staging them: this
// is the work that stagings are spared.
func BenchmarkEnterTerms(b *testing.B) {
	for name, fresh := range dbtest.Fresh {
		b.Run(name, func(b *testing.B) {
			store := openStore(b, fresh(b))
			prepareStore(b, store)
			b.ResetTimer()
			runCallers(b, b.N, func(number int) error {
				stagePerson(b, store, fmt.Sprint(number), strings.NewReplacer(
					"Lovelace", fmt.Sprintf("%x Lovelace", number*7919%b.N), "ada.", fmt.Sprintf("%x.", number*104729%b.N), "07400 654321", fmt.Sprintf("+447%09d", number*15485863%1000000000),
				).Replace(lovelaceDocument))
				return nil
			})
			staging := b.Elapsed()
			began := time.Now()
			for indexed, more := 0, true; more; {
				step, err := store.IndexTerms(b.Context())
				indexed, more = indexed+step.Accounts, step.More
				if err != nil || !more && indexed != b.N {
					b.Fatal(indexed, err)
				}
			}
			b.ReportMetric(float64(staging.Microseconds())/float64(b.N), "µs/staging")
			b.ReportMetric(float64(time.Since(began).Microseconds())/float64(b.N), "µs/entering")
		})
	}
}
