package check_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/kit/check"
	"landfall/internal/kit/generate"
)

// TestBookIsComparedWithItsTotals generates books with and without every kind of mistake and
// compares them with their control totals.
func TestBookIsComparedWithItsTotals(t *testing.T) {
	order := generate.Options{Accounts: 600, Seed: 3, Supplier: "N", AsOf: generate.DefaultAsOf, Vendor: "bank"}
	printBook := func(t *testing.T, order generate.Options) string {
		t.Helper()
		folder := filepath.Join(t.TempDir(), "book")
		if _, err := order.WriteBook(t.Context(), folder, "", func(int) {}); err != nil {
			t.Fatal(err)
		}
		return folder
	}
	sound, _, err := proof(t, printBook(t, order), nil)
	if err != nil || sound.Totals == nil || !sound.MatchesTotals() || !sound.Valid() {
		t.Fatalf("%v %+v", err, sound)
	}
	order.Faults = []generate.Fault{{Kind: "lost", Share: 0.1}, {Kind: "phone", Share: 0.1}}
	folder := printBook(t, order)
	spoiled, _, err := proof(t, folder, nil)
	if err != nil || spoiled.MatchesTotals() {
		t.Fatalf("%v: not detected", err)
	}
	accounts := spoiled.Rows()[0]
	missing, lines := check.Missing(accounts).Count.Count(), accounts.Staged.Count.Count()
	if missing < 30 || missing+lines != 600 || accounts.Explained["failed"].Count.Count() < 30 {
		t.Errorf("%d missing, %d in the book, %+v", missing, lines, accounts.Explained)
	}
	if err := os.Remove(filepath.Join(folder, "control-totals.json")); err != nil {
		t.Fatal(err)
	}
	if unsaid, _, err := proof(t, folder, nil); err != nil || unsaid.Totals != nil || !unsaid.MatchesTotals() {
		t.Errorf("%v: absent totals must not differ: %+v", err, unsaid.Totals)
	}
}

// TestPostingsAreInTheCurrencyOfTheirAccount checks postings to accounts in several currencies.
func TestPostingsAreInTheCurrencyOfTheirAccount(t *testing.T) {
	folder := write(t, map[string]string{
		"accounts.ndjson": `{"import_supplier":"N","external_account_number":"1","customers":[{}],"currency":"EUR","transfer_balance":"10.00"}` + "\n",
		"transactions.ndjson": `{"import_supplier":"N","external_account_number":"1","transactions":[` +
			`{"transaction_id":"a","transaction_date":"2026-01-01","amount":"2.50","type":"PAYMENT"},` +
			`{"transaction_id":"b","transaction_date":"2026-01-01","amount":"1.00","type":"CHARGE","reason":"FEE"}]}` + "\n",
		"control-totals.json": `{"currencies":[{"currency":"EUR","balances":"11.50","transactions":[{"type":"PAYMENT","count":1,"amount":"2.50"}]}]}`,
	})
	if found, _, err := proof(t, folder, nil); err != nil || !found.MatchesTotals() {
		t.Errorf("%v: %+v", err, found.Rows())
	}
	for wrong, want := range map[string]string{
		`{"acounts":1}`:                          "control-totals.json: acounts: ",
		`{"currencies":[{"currency":"pounds"}]}`: "currencies.0.currency",
		`{`:                                      "control-totals.json: ",
	} {
		if err := os.WriteFile(filepath.Join(folder, "control-totals.json"), []byte(wrong), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := proof(t, folder, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
