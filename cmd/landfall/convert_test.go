package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall/internal/kit/importer"
)

const convertingPage = "../../docs/converting.md"

// TestConvertingPage runs the commands of the page and compares their output. With UPDATE_README=1
// it updates the page.
func TestConvertingPage(t *testing.T) {
	text, err := os.ReadFile(convertingPage)
	if err != nil {
		t.Fatal(err)
	}
	steps := parseTour(string(text))
	if len(steps) != 2 {
		t.Fatalf("the page has %d steps", len(steps))
	}
	path := tourStep{commands: "PATH=$PWD/bin:$PATH\n"}
	for i, got := range runTour(t, "bash", shells["bash"], append([]tourStep{path}, steps...))[1:] {
		if diff := cmp.Diff(normalizeOutput(steps[i].output), normalizeOutput(got)); diff != "" {
			t.Errorf("below\n%s(-shown +got):\n%s", steps[i].commands, diff)
			text = bytes.Replace(text, []byte(formatStep(steps[i])), []byte(formatStep(tourStep{steps[i].commands, got})), 1)
		}
	}
	if t.Failed() && os.Getenv("UPDATE_README") != "" {
		if err := os.WriteFile(convertingPage, text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExampleMatchesGeneratedTables checks that the tables in the documentation are those that generate
// writes.
func TestExampleMatchesGeneratedTables(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "export")
	var out bytes.Buffer
	if code := runMain([]string{"generate", folder, "--format", "csv", "--accounts", "6", "--seed", "3", "--supplier", "NORTH"}, &out, &out); code != exitDone {
		t.Fatal(out.String())
	}
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) != 9 {
		t.Fatalf("%d files: %v", len(entries), err)
	}
	for _, entry := range entries {
		want, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		kept, err := os.ReadFile(filepath.Join("../../docs/example/old-system", entry.Name()))
		if err != nil || !bytes.Equal(kept, want) {
			t.Errorf("%s in the documentation is another: %v", entry.Name(), err)
		}
	}
}

// TestConvertedTablesCanBeImported goes all the way: tables, book, server.
func TestConvertedTablesCanBeImported(t *testing.T) {
	m := newImportTest(t, "--accounts", "1")
	tables := filepath.Join(t.TempDir(), "export")
	m.book = filepath.Join(t.TempDir(), "book")
	for _, words := range [][]string{
		{"generate", tables, "--format", "csv", "--accounts", "150", "--seed", "9", "--supplier", "NORTH"}, {"convert", tables, m.book},
	} {
		var out bytes.Buffer
		if code := runMain(words, &out, &out); code != exitDone {
			t.Fatalf("%q: %s", words, out.String())
		}
	}
	tallies := m.finish(t)
	for phase, tally := range tallies {
		if tally.Failed > 0 || tally.NotReached > 0 {
			t.Errorf("%s: %+v", phase, tally)
		}
	}
	if created := tallies[importer.Phase("run")]; created.Done != 150 {
		t.Errorf("created %+v of %v", created, tallies)
	}
}
