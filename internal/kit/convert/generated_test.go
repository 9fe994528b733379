package convert_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"landfall/internal/kit/book"
	"landfall/internal/kit/convert"
	"landfall/internal/kit/generate"
)

func generateOptions(accounts int, faults ...generate.Fault) generate.Options {
	return generate.Options{
		Accounts: accounts, Seed: 7, Supplier: "NORTH", Vendor: "bank", AsOf: generate.DefaultAsOf, Faults: faults,
	}
}

// printed generates the same book as lines and as tables.
func printed(t *testing.T, o generate.Options) (lines, tables string) {
	t.Helper()
	lines, tables = filepath.Join(t.TempDir(), "lines"), filepath.Join(t.TempDir(), "tables")
	if _, err := o.WriteBook(t.Context(), lines, "", func(int) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.WriteTables(t.Context(), tables, func(int) {}); err != nil {
		t.Fatal(err)
	}
	return lines, tables
}

func converted(t *testing.T, tables string, memory int64) (string, *convert.Result) {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "book")
	result, err := convert.Convert(t.Context(), convert.Options{
		Map: filepath.Join(tables, generate.MapName), Source: tables, Book: folder, Memory: memory,
	})
	if err != nil {
		if wrong, is := errors.AsType[*convert.MapError](err); is {
			for _, one := range wrong.Wrong {
				t.Log(one)
			}
		}
		t.Fatal(err)
	}
	return folder, result
}

// TestTablesBecomeTheSameBook converts the tables with much memory and with so little that
// everything is sorted on disk, and wants the same bytes as the generated lines.
func TestTablesBecomeTheSameBook(t *testing.T) {
	lines, tables := printed(t, generateOptions(700, generate.Fault{Kind: "phone", Share: 0.05}, generate.Fault{Kind: "point", Share: 0.05},
		generate.Fault{Kind: "agreements", Share: 0.05}, generate.Fault{Kind: "customer", Share: 0.02}, generate.Fault{Kind: "future", Share: 0.02}))
	for _, memory := range []int64{convert.DefaultMemory, 1} {
		folder, result := converted(t, tables, memory)
		if !result.Whole() {
			t.Errorf("problems: %+v", result.Troubles)
		}
		if spilled := result.Spilled > 1<<20; spilled != (memory == 1) {
			t.Errorf("with %d bytes of memory, %d went to disk", memory, result.Spilled)
		}
		names := []string{book.TotalsName}
		for _, kind := range book.Kinds() {
			names = append(names, kind.Stem+".ndjson")
		}
		for _, name := range names {
			want, err := os.ReadFile(filepath.Join(lines, name))
			if err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				at := 0
				for at < min(len(got), len(want)) && got[at] == want[at] {
					at++
				}
				t.Errorf("%s differ at byte %d:\n%.300s\n%.300s", name, at, got[max(0, at-100):], want[max(0, at-100):])
			}
		}
	}
}
