package main

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// TestLicencesAreListed checks that the licences of all dependencies are listed.
func TestLicencesAreListed(t *testing.T) {
	page, err := os.ReadFile("../../docs/licences.md")
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(string(page)) {
		if row, ok := strings.CutPrefix(line, "| `"); ok {
			module, _, _ := strings.Cut(row, "`")
			listed = append(listed, module)
		}
	}
	var all strings.Builder
	for _, system := range []string{"linux", "darwin", "windows"} { // a release has programs for each
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
		list.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system)
		output, err := list.Output()
		if err != nil {
			t.Fatal(err)
		}
		all.Write(output)
	}
	built := slices.Compact(slices.Sorted(strings.FieldsSeq(all.String())))
	for _, module := range built {
		if module != "landfall" && !slices.Contains(listed, module) {
			t.Errorf("%s is part of the program but not in docs/licences.md", module)
		}
	}
	for _, module := range listed {
		if !slices.Contains(built, module) {
			t.Errorf("%s is in docs/licences.md but not part of the program", module)
		}
	}
}
