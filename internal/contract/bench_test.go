package contract

import (
	"encoding/json"
	"testing"
)

// BenchmarkReadAndCheck is everything that is done with an account before it
// is stored; the other is what merely decoding the same bytes costs.
func BenchmarkReadAndCheck(b *testing.B) {
	Warm()
	body, supplier := file(b, "typical.json"), testSupplier()
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		account, err := ReadAccount(b.Context(), body)
		if err != nil {
			b.Fatal(err)
		}
		if verdict := account.Check(supplier, testNow); len(verdict.Errors) > 0 {
			b.Fatal(verdict.Errors)
		}
		account.Release()
	}
}

func BenchmarkDecodeIntoMap(b *testing.B) {
	body := file(b, "typical.json")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var value map[string]any
		if err := json.Unmarshal(body, &value); err != nil {
			b.Fatal(err)
		}
	}
}
