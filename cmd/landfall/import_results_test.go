package main

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall/client"
)

// The results of an import carry the columns of the old system that no attr is filled from, so that
// they can be joined with its tables. The reports about the book show the profile of the tables.
func TestResultsHaveTheUnusedColumns(t *testing.T) {
	onBoth(t, func(t *testing.T, fresh func(testing.TB) string) {
		m := newImportTestOn(t, fresh(t), nil, "--accounts", "1")
		tables, book := t.TempDir(), filepath.Join(t.TempDir(), "converted")
		for name, text := range map[string]string{
			"map.yaml": "map: 1\nsupplier: NORTH\ntables:\n  A: {file: a.csv, into: accounts, account: NO, fill: {customers: [{family_name: NAME, mobile: MOB}]}}\n",
			"a.csv":    "NO,NAME,MOB,BRANCH,OLD ID\nR1,Smith,,West,77\nR2,Jones,not a number,\"East, 2\",78\nR3,Blake,,,79\n",
		} {
			if err := os.WriteFile(filepath.Join(tables, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if code := runMain([]string{"convert", "--with-profile", tables, book}, &out, &out); code != exitDone {
			t.Fatal(out.String())
		}
		m.book = book
		m.finish(t)
		reports, err := filepath.Glob(filepath.Join(book, "import-*", "results.csv"))
		if err != nil || len(reports) != 1 {
			t.Fatal(reports, err)
		}
		checked := filepath.Join(t.TempDir(), "checked")
		runMain([]string{"validate", book, "--report", checked}, &out, &out)
		for _, page := range []string{filepath.Join(checked, "report.html"), filepath.Join(filepath.Dir(reports[0]), "report.html")} {
			html, err := os.ReadFile(page)
			if err != nil || !bytes.Contains(html, []byte("Profile of the tables that the book was converted from")) || !bytes.Contains(html, []byte("<td>OLD ID</td>")) {
				t.Errorf("%s has no profile: %v", page, err)
			}
		}
		text, err := os.ReadFile(reports[0])
		if err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))).ReadAll()
		if err != nil || len(rows) != 4 {
			t.Fatalf("%v\n%s", err, text)
		}
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		var got []string
		for _, row := range rows[1:] {
			number := row[column["platform_account_number"]]
			got = append(got, strings.Join([]string{
				row[column["external_account_number"]], row[column["state"]], row[column["source.BRANCH"]], row[column["source.OLD ID"]], number[:min(2, len(number))],
			}, "|"))
		}
		if want := "R1|created|West|77|A-\nR2|refused|East, 2|78|\nR3|created||79|A-"; strings.Join(got, "\n") != want {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
		}
	})
}

// The numbers of the accounts of a book with hundreds of accounts are found in the list of all.
func TestResultsHaveTheNumbersOfManyAccounts(t *testing.T) {
	m := newImportTest(t, "--accounts", "250")
	m.finish(t)
	reports, err := filepath.Glob(filepath.Join(m.book, "import-*", "results.csv"))
	if err != nil || len(reports) != 1 {
		t.Fatal(reports, err)
	}
	text, err := os.ReadFile(reports[0])
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")))).ReadAll()
	if err != nil || len(rows) != 251 {
		t.Fatal(len(rows), err)
	}
	numbers := map[string]string{}
	for _, row := range rows[1:] {
		numbers[row[1]] = row[2]
	}
	server, err := client.New(m.base, client.WithKey(m.key))
	if err != nil {
		t.Fatal(err)
	}
	created := 0
	for entry, err := range server.Imported(t.Context(), "NORTH") {
		if err != nil {
			t.Fatal(err)
		}
		if created++; numbers[entry.External] != entry.Number {
			t.Errorf("%s is %s, and in the results it is %q", entry.External, entry.Number, numbers[entry.External])
		}
	}
	if created < 200 {
		t.Errorf("only %d accounts were created", created)
	}
}
