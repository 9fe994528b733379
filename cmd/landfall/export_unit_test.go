package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/test/pgtest"
	"landfall/internal/test/tooltest"
)

// A supplier that sends statements in pence gets them back in pence, those in the account and those
// added later, while the service itself has pounds.
func TestAnExportedBookHasTheUnitOfItsStatements(t *testing.T) { testExportedUnit(t, fileDatabase) }

func TestAnExportedBookHasTheUnitOfItsStatementsOnPostgres(t *testing.T) {
	tooltest.SkipIfShort(t) // the unit does not depend on the database
	testExportedUnit(t, pgtest.URL)
}

func testExportedUnit(t *testing.T, fresh func(testing.TB) string) {
	t.Helper()
	server := func(folder string) *exportTest {
		m := newImportTestOn(t, fresh(t), nil, "--accounts", "1")
		m.command(t, "supplier", "set", "NORTH", "--statement-amounts", "minor")
		m.book = folder
		for phase, tally := range m.finish(t) {
			if tally.Done != tally.Lines {
				t.Fatalf("%s: %+v", phase, tally)
			}
		}
		e := &exportTest{m, strings.TrimSpace(m.command(t, "key", "create", "Acme", "--role", "reader"))}
		t.Setenv("LANDFALL_SERVER", e.base)
		t.Setenv("LANDFALL_API_KEY", e.reader)
		var out bytes.Buffer
		if code := runMain([]string{"reconcile", folder}, &out, &out); code != exitDone {
			t.Errorf("%s differs, exit %d: %s", folder, code, out.String())
		}
		return e
	}
	source := t.TempDir()
	for name, text := range map[string]string{
		"accounts.ndjson": `{"import_supplier":"NORTH","external_account_number":"A-1","customers":[{"family_name":"Ray"}],` +
			`"billing_address1":"1 High Street","billing_postcode":"N1 1AA","statements":[` +
			`{"statement_id":"S-1","bill_period_from_date":"2026-01-01","bill_period_to_date":"2026-01-31","gross_amount":1999}]}`,
		"statements.ndjson": `{"import_supplier":"NORTH","external_account_number":"A-1","statements":[` +
			`{"statement_id":"S-2","bill_period_from_date":"2026-02-01","bill_period_to_date":"2026-02-28","gross_amount":"2450"}]}`,
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := server(source)
	tables := filepath.Join(t.TempDir(), "tables")
	first.whole(t, first.base, tables, "--format", "csv")
	rows := csvRows(t, filepath.Join(tables, "statements.csv"))
	if len(rows) != 2 || rows[0]["gross_amount"] != "19.99" || rows[1]["gross_amount"] != "24.50" || rows[1]["gross_amount_sent"] != "2450.00" {
		t.Errorf("the table of statements has %v", rows)
	}
	exported := filepath.Join(t.TempDir(), "out")
	first.whole(t, first.base, exported, "--format", "book")
	second := server(exported)
	if got, want := second.totals(t), first.totals(t); got != want {
		t.Errorf("the sums are\n%s, on the first server\n%s", got, want)
	}
	var complaint bytes.Buffer
	for _, args := range [][]string{{"--statement-amounts", "major"}, {"--currency", "EUR"}} {
		if code := runMain(append([]string{"supplier", "set", "NORTH", "--database", second.database}, args...), io.Discard, &complaint); code == exitDone {
			t.Errorf("%q is accepted although there are accounts", args)
		}
	}
	if text := complaint.String(); !strings.Contains(text, "1 created accounts") || !strings.Contains(text, "The currency cannot change") {
		t.Errorf("the refusals say %s", text)
	}
}
