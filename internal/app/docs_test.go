package app

import (
	"fmt"
	"os"
	"slices"
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
	CheckPageTable(t, "../../docs/settings.md", "settings", table.String())
}

// The page of limits names the settings that change them. audit-every was named
// there after it had become audit-checkpoint-every.
func TestLimitsNameExistingSettings(t *testing.T) {
	page, err := os.ReadFile("../../docs/limits.md")
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		named++
		if name := strings.Trim(cells[3], " `"); !slices.Contains(settingNames(), name) {
			t.Errorf("docs/limits.md names the setting %q, which does not exist", name)
		}
	}
	if named < 20 {
		t.Errorf("only %d limits have a setting: has the table changed?", named)
	}
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
