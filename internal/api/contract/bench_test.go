package contract

import (
	"bytes"
	"encoding/json"
	"testing"
)

// BenchmarkReadAndCheck measures all work on an account before it is stored. The
// other benchmark measures merely decoding the same bytes.
func BenchmarkReadAndCheck(b *testing.B) {
	WarmUp()
	var compact bytes.Buffer // as programs write it
	if err := json.Compact(&compact, readTestFile(b, "typical.json")); err != nil {
		b.Fatal(err)
	}
	body, supplier := compact.Bytes(), testSupplier()
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
	body := readTestFile(b, "typical.json")
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		var value map[string]any
		if err := json.Unmarshal(body, &value); err != nil {
			b.Fatal(err)
		}
	}
}
