package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The settings table in the operator's handbook is generated from the
// declarations.
func TestHandbookHasAllSettings(t *testing.T) {
	var table strings.Builder
	fmt.Fprintln(&table, "| setting | default | meaning |\n|---|---|---|")
	for _, declared := range settingTable {
		var settings Settings
		place := declared.bind(&settings)
		place.reset()
		standard := "none"
		if place.text() != "" {
			standard = "`" + place.text() + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", declared.name, standard, declared.usage)
	}
	CheckPageTable(t, "../../docs/operating.md", "settings", table.String())
}

// CheckPageTable compares the table between two markers in a page with what the
// code declares. LANDFALL_TEST_UPDATE=1 updates the page.
func CheckPageTable(t *testing.T, file, about, table string) {
	t.Helper()
	begin, end := "<!-- "+about+" -->\n", "<!-- /"+about+" -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	received, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the %s", file, about)
	}
	if received == table {
		return
	}
	if os.Getenv("LANDFALL_TEST_UPDATE") == "" {
		t.Fatalf("%s is not what the code says: run make generate", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
