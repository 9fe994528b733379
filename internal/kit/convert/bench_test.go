package convert_test

import (
	"os"
	"path/filepath"
	"testing"

	"landfall/internal/kit/convert"
	"landfall/internal/kit/generate"
)

// BenchmarkConvert is for profiles; make bench compares it with a bare parser.
func BenchmarkConvert(b *testing.B) {
	tables := filepath.Join(b.TempDir(), "tables")
	if _, err := generateOptions(20_000).WriteTables(b.Context(), tables, func(int) {}); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		folder := filepath.Join(b.TempDir(), "book")
		if _, err := convert.Convert(b.Context(), convert.Options{
			Map: filepath.Join(tables, generate.MapName), Source: tables, Book: folder, Memory: convert.DefaultMemory,
		}); err != nil {
			b.Fatal(err)
		}
		if err := os.RemoveAll(folder); err != nil {
			b.Fatal(err)
		}
	}
}
