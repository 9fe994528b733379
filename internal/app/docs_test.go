package app

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The table of settings in the operator's handbook is written from the
// declarations. LANDFALL_TEST_UPDATE=1 writes it again.
func TestHandbookHasAllSettings(t *testing.T) {
	const file, begin, end = "../../docs/operating.md", "<!-- settings -->\n", "<!-- /settings -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	told, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("%s has no place for the settings", file)
	}
	var table strings.Builder
	fmt.Fprintln(&table, "| setting | default | meaning |\n|---|---|---|")
	for _, declared := range declared {
		var settings Settings
		place := declared.bind(&settings)
		place.reset()
		standard := "none"
		if place.text() != "" {
			standard = "`" + place.text() + "`"
		}
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", declared.name, standard, declared.usage)
	}
	if told == table.String() {
		return
	}
	if os.Getenv("LANDFALL_TEST_UPDATE") == "" {
		t.Fatalf("%s is not what the code says: run make generate", file)
	}
	if err := os.WriteFile(file, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
		t.Fatal(err)
	}
}
