package check_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/kit/book"
	"landfall/internal/kit/check"
	"landfall/internal/kit/generate"
)

var now = time.Date(2026, time.July, 15, 9, 0, 0, 0, time.UTC)

// proof checks a book and returns the mistakes as text.
func proof(t *testing.T, folder string, stop error) (check.Result, []string, error) {
	t.Helper()
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	reader := check.Checker{
		Settings: landfall.NewSupplier(""), Now: now, Progress: func(int) {},
		Mistake: func(m check.Mistake) error {
			for _, violation := range append(m.Failure.Violations, m.Warnings...) {
				told = append(told, fmt.Sprintf("%s:%d %s %s", filepath.Base(m.File.Path), m.Line.Number, m.External, violation.Code))
			}
			if len(m.Failure.Violations)+len(m.Warnings) == 0 {
				told = append(told, fmt.Sprintf("%s:%d %s", filepath.Base(m.File.Path), m.Line.Number, m.Failure.Code))
			}
			return stop
		},
	}
	result, err := reader.Check(t.Context(), found)
	return result, told, err
}

func write(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func account(external string) string {
	return fmt.Sprintf(`{"import_supplier":"N","external_account_number":%q,"customers":[{"family_name":"A"}]}`+"\n", external)
}

// TestEveryLineIsAccountedFor checks the mistakes of each kind of line, by file and line.
func TestEveryLineIsAccountedFor(t *testing.T) {
	folder := write(t, map[string]string{
		"accounts-1.ndjson": account("1") + "\n" + account("2") + `{"import_supplier":"N","external_account_number":"3"}` + "\n",
		"accounts-2.ndjson": account("4") + account("2") + strings.Repeat("x", 11<<20) + "\n{\n",
		"notes.ndjson": `{"import_supplier":"N","external_account_number":"1","notes":[{"body":"a"}]}
{"import_supplier":"N","external_account_number":"9","notes":[{"body":"a"}]}
{"import_supplier":"N","external_account_number":"1","notes":[{}]}
`,
		"transactions.ndjson":         `{"import_supplier":"N","external_account_number":"1","transactions":[{"transaction_id":"a","transaction_date":"2026-01-01","amount":"1.00","type":"PAYMENT"}]}` + "\n",
		"payment-instructions.ndjson": `{"import_supplier":"N","external_account_number":"1","vendor":"v","reference":"r","type":"WISH"}` + "\n",
		"statements.ndjson":           `{"import_supplier":"N","external_account_number":"1","statements":[]}` + "\n",
	})
	result, told, err := proof(t, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"accounts-1.ndjson:4 3 required", "accounts-2.ndjson:2 2 account_given_twice", "accounts-2.ndjson:3 payload_too_large",
		"accounts-2.ndjson:4 malformed_json",
		"notes.ndjson:2 9 account_not_in_book", "notes.ndjson:3 1 note_body_or_document_path_required",
		"payment-instructions.ndjson:1 1 invalid_choice",
	}
	if strings.Join(told, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(told, "\n"), strings.Join(want, "\n"))
	}
	for kind, count := range map[book.Kind]check.Count{
		book.Accounts: {Lines: 7, Wrong: 4}, book.Notes: {Lines: 3, Wrong: 1, Warned: 1}, book.Transactions: {Lines: 1},
		book.Statements: {Lines: 1}, book.Instructions: {Lines: 1, Wrong: 1},
	} {
		if result.Counts[kind] != count {
			t.Errorf("%s: %+v, want %+v", kind.Stem, result.Counts[kind], count)
		}
	}
	if result.Valid() || result.Wrong.Accounts != 6 {
		t.Errorf("%d lines wrong, want 6", result.Wrong.Accounts)
	}
}

// TestGeneratedFaultsAreFound generates a book with known mistakes and wants exactly those.
func TestGeneratedFaultsAreFound(t *testing.T) {
	folder := t.TempDir()
	printed, err := generate.Options{
		Accounts: 3_000, Seed: 3, Supplier: "N", AsOf: generate.DefaultAsOf,
		Faults: []generate.Fault{{Kind: "phone", Share: 0.05}, {Kind: "number", Share: 0.01}, {Kind: "json", Share: 0.01}},
	}.WriteBook(t.Context(), folder, ".zst", func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	result, _, err := proof(t, folder, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int{}
	for _, group := range result.Wrong.Groups {
		found[group.Code] += group.Accounts
	}
	for code, kind := range map[string]string{
		"invalid_phone_number": "phone", check.CodeAccountTwice: "number", "malformed_json": "json",
	} {
		if found[code] != printed.Faults[kind] || found[code] == 0 {
			t.Errorf("%s: %d found, %d made", code, found[code], printed.Faults[kind])
		}
	}
}

// TestReadingStopsOnErrors checks that an error of the callback and a canceled context end the
// check.
func TestReadingStopsOnErrors(t *testing.T) {
	folder := write(t, map[string]string{"accounts.ndjson": strings.Repeat("{\n", 100_000)})
	full := errors.New("the disk is full")
	if _, told, err := proof(t, folder, full); !errors.Is(err, full) || len(told) != 1 {
		t.Errorf("%d mistakes reported, then %v", len(told), err)
	}
	found, err := book.Open(folder)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	reader := check.Checker{
		Settings: landfall.NewSupplier(""), Now: now, Progress: func(int) {}, Mistake: func(check.Mistake) error { stop(); return nil },
	}
	if _, err := reader.Check(ctx, found); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}
