package report_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/kit/book"
	"landfall/internal/kit/report"
)

var accounts = book.File{Path: "book/accounts.ndjson", Kind: book.Accounts}

// write writes a report about two failed lines and one with a warning.
func write(t *testing.T, folder string) {
	t.Helper()
	writer, err := report.Begin(folder)
	if err != nil {
		t.Fatal(err)
	}
	wrong := landfall.Failure{Code: "account_failed_validation", Violations: []landfall.Violation{
		{Attr: "customers.0.mobile", Code: "invalid_phone_number", Detail: "=HYPERLINK(\"x\")"}, {Attr: "currency", Code: "required", Detail: "Needed."},
	}}
	tally := landfall.FailureTally{}
	tally.Add(wrong)
	for _, err := range []error{
		writer.Fail(accounts, book.Line{Number: 3, Text: []byte(`{"a": 1}`)}, "<script>alert(1)</script>", wrong),
		writer.Fail(accounts, book.Line{Number: 4, Text: []byte(`{`), TooLong: true}, "-4", landfall.Failure{Code: "payload_too_large", Detail: "Too long."}),
		writer.Warn(accounts, book.Line{Number: 5, Text: []byte(`{}`)}, "5", []landfall.Violation{{Code: "possible_test_email_address"}}),
		writer.Finish(report.Summary{
			Title: `<img src=x onerror="alert(1)">`, Sentence: "2 of 5 lines would be refused.", MadeAt: time.Unix(0, 0),
			Bars: []report.Bar{{Name: "accounts", Parts: []report.Part{
				{Name: "right", Count: 99_999, Tone: report.Good}, {Name: "wrong", Count: 1, Tone: report.Bad},
			}}},
			Failures: tally.Summary(),
		}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, parts ...string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parts...))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestFailedLinesCanBeFixedAndResent wants the failed lines byte for byte, in a folder that is
// itself a book.
func TestFailedLinesCanBeFixedAndResent(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	if text := read(t, folder, "failed", "accounts.ndjson"); text != "{\"a\": 1}\n" {
		t.Errorf("failed lines: %q", text)
	}
	if _, err := book.Open(filepath.Join(folder, "failed")); err != nil {
		t.Error(err)
	}
}

// TestTableIsSafeInASpreadsheet wants no cell that a spreadsheet would treat as a formula.
func TestTableIsSafeInASpreadsheet(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	rows, err := csv.NewReader(strings.NewReader(strings.TrimPrefix(read(t, folder, "failures.csv"), "\ufeff"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 5 {
		t.Fatalf("%d rows, want a heading and four: %q", len(rows), rows)
	}
	for _, row := range rows[1:] {
		for _, cell := range row {
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@") {
				t.Errorf("a formula: %q", cell)
			}
		}
	}
	if rows[1][1] != "3" || rows[1][3] != "error" || rows[4][3] != "warning" {
		t.Errorf("rows: %q", rows)
	}
}

// TestPageHasNoScripts injects markup wherever texts from a book can appear.
func TestPageHasNoScripts(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	page := read(t, folder, "report.html")
	for _, hostile := range []string{"<img", "<script", "http://", "https://", "@import", "url("} {
		if strings.Contains(page, hostile) {
			t.Errorf("the page contains %s", hostile)
		}
	}
	for _, wanted := range []string{"99,999 right (&gt;99.9 %)", "1 wrong (&lt;0.1 %)", "invalid_phone_number", "Fix these 2 (nos. 1, 2) and 1 of 1 pass"} {
		if !strings.Contains(page, wanted) {
			t.Errorf("the page lacks %q", wanted)
		}
	}
}

func TestNothingIsOverwritten(t *testing.T) {
	folder := t.TempDir()
	write(t, folder)
	if _, err := report.Begin(folder); err == nil || !strings.Contains(err.Error(), "report already") {
		t.Errorf("a second report into the same folder: %v", err)
	}
}

// TestAReportWroteThroughLinks lets links with the names of a report point to a file of the user.
func TestAReportWroteThroughLinks(t *testing.T) {
	for _, name := range []string{"failed", "failures.csv", "differences.csv", "report.json", "report.html"} {
		t.Run(name, func(t *testing.T) {
			folder, valuable := t.TempDir(), t.TempDir()
			target := filepath.Join(valuable, "keys")
			if err := os.WriteFile(target, []byte("valuable\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			if name == "failed" {
				target = valuable
			}
			if err := os.Symlink(target, filepath.Join(folder, name)); err != nil {
				t.Skip(err)
			}
			if writer, err := report.Begin(folder); err == nil {
				t.Errorf("the link %s was accepted: %v", name, writer.Finish(report.Summary{}))
			}
			if text, err := os.ReadFile(filepath.Join(valuable, "keys")); string(text) != "valuable\n" {
				t.Errorf("the file behind the link is now %q, %v", text, err)
			}
		})
	}
}
