package main

import (
	"bytes"
	"errors"
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
	s, key := startSampleServer(t)
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

// startSampleServer starts a server with what the samples need, and returns a key.
func startSampleServer(t *testing.T) (s *serverProcess, key string) {
	t.Helper()
	s = startServer(t)
	for _, line := range []string{"supplier create NORTH", "organisation create Acme", "supplier grant NORTH Acme", "team create Movers", "key create Acme"} {
		var out, complaint bytes.Buffer
		if code := runMain(append(strings.Fields(line), "--database", s.database), &out, &complaint); code != exitDone {
			t.Fatalf("%s: %s", line, complaint.String())
		}
		key = strings.TrimSpace(out.String())
	}
	return s, key
}

// TestTypeScriptSampleWorksUnchanged generates a client from the description that the server gives,
// compiles the sample of the documentation with it, and runs it twice.
func TestTypeScriptSampleWorksUnchanged(t *testing.T) {
	tooltest.SkipIfShort(t)
	text, err := os.ReadFile("../../docs/samples.md")
	if err != nil {
		t.Fatal(err)
	}
	const packages = "../../internal/api/httpapi/testdata/client/node"
	modules := filepath.Join(tooltest.Node(t, packages), "node_modules")
	s, key := startSampleServer(t)
	folder := t.TempDir()
	sample := regexp.MustCompile("(?s)```ts\n(.*?)```\n").FindSubmatch(text)
	if sample == nil {
		t.Fatal("there is no sample in TypeScript")
	}
	types, err := os.ReadFile(filepath.Join(packages, "node.d.ts"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "node.d.ts"), types, 0o600)
	}
	if err = errors.Join(err, os.WriteFile(filepath.Join(folder, "sample.ts"), sample[1], 0o600), os.WriteFile(filepath.Join(folder, "package.json"), []byte(`{"type":"module"}`), 0o600),
		os.Symlink(modules, filepath.Join(folder, "node_modules"))); err != nil {
		t.Fatal(err)
	}
	run := func(program string, arguments ...string) string {
		command := exec.CommandContext(t.Context(), program, arguments...)
		command.Dir = folder
		command.Env = append(os.Environ(), "LANDFALL_SERVER="+s.base, "LANDFALL_API_KEY="+key)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", program, err, output)
		}
		return string(output)
	}
	run(filepath.Join(modules, ".bin", "openapi-typescript"), s.base+"/openapi.json", "-o", "api.d.ts")
	run(filepath.Join(modules, ".bin", "tsc"), "--module", "nodenext", "--target", "es2022", "--lib", "es2022,dom", "--strict", "--skipLibCheck", "node.d.ts", "sample.ts")
	first, again := run("node", "sample.js"), run("node", "sample.js")
	for _, want := range []string{"staged T-1\n", "created A-", "line 8 account_failed_validation customers_required\n", "staged in bulk 99\n"} {
		if !strings.Contains(first, want) {
			t.Errorf("the sample does not print %q:\n%s", want, first)
		}
	}
	if !strings.Contains(again, "staged in bulk 99\n") {
		t.Errorf("the second time:\n%s", again)
	}
}
