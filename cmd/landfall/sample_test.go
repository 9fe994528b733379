package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"landfall/internal/test/tooltest"
)

// TestSamplesWorkUnchanged runs the samples of the documentation twice. The second run finds
// everything already there.
func TestSamplesWorkUnchanged(t *testing.T) {
	text, err := os.ReadFile("../../docs/samples.md")
	if err != nil {
		t.Fatal(err)
	}
	s := startServer(t)
	key := ""
	for _, line := range []string{"supplier create NORTH", "organisation create Acme", "supplier grant NORTH Acme", "team create Movers", "key create Acme"} {
		var out, complaint bytes.Buffer
		if code := runMain(append(strings.Fields(line), "--database", s.database), &out, &complaint); code != exitDone {
			t.Fatalf("%s: %s", line, complaint.String())
		}
		key = strings.TrimSpace(out.String())
	}
	for _, sample := range []struct {
		language, program string
		arguments         []string
		first, again      []string
	}{
		{"python", "python3", nil, []string{
			`(?m)^staged P-1$`, `(?m)^created A-[0-9A-Z]{8}$`, `(?m)^refused customers\.0\.mobile invalid_phone_number$`,
			`(?m)^line 8 account_failed_validation \['customers_required'\]$`, `(?m)^staged in bulk 99$`,
			`(?m)^event account_import\.completed NORTH/P-1$`,
		}, []string{`(?m)^staged in bulk 99$`}},
		{"sh", "sh", []string{"-eu"}, []string{
			`(?m)^\{"import_supplier":"NORTH","external_account_number":"C-1"\}$`, `"platform_account_number":"A-`,
			`(?m)^\{"line":4,"status":201,`, `"complete":true`, `"state":"WAITING"`, `"next":"`,
		}, nil},
	} {
		tooltest.Debian(t, map[string]string{"sh": "curl", "python": "python3"}[sample.language])
		block := regexp.MustCompile("(?s)```" + sample.language + "\n(.*?)```\n").FindSubmatch(text)
		if block == nil {
			t.Fatalf("there is no sample in %s", sample.language)
		}
		folder := t.TempDir()
		file := filepath.Join(folder, "sample")
		if err := os.WriteFile(file, block[1], 0o600); err != nil {
			t.Fatal(err)
		}
		for _, wanted := range [][]string{sample.first, sample.again} {
			command := exec.CommandContext(t.Context(), sample.program, append(sample.arguments, file)...)
			command.Dir = folder
			command.Env = append(os.Environ(), "LANDFALL_SERVER="+s.base, "LANDFALL_API_KEY="+key)
			output, err := command.CombinedOutput()
			if err != nil && wanted != nil {
				t.Fatalf("%s: %v\n%s", sample.language, err, output)
			}
			for _, pattern := range wanted {
				if !regexp.MustCompile(pattern).Match(output) {
					t.Errorf("%s does not print %s:\n%s", sample.language, pattern, output)
				}
			}
		}
	}
}
