package engine

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/test/pgtest"
)

// mutations reintroduce mistakes that the engine must not make: each replaces a
// text in a file with another.
var mutations = map[string]struct{ file, text, replacement, test string }{
	"a call is forgotten when its group fails": {
		"sqlite_write.go", "for _, b := range served {", "if err != nil {\n\t\tserved = served[:len(served)-1]\n\t}\n\tfor _, b := range served {",
		"TestEveryStatementFails/.*after_false_at_INSERT_INTO_commit_mark",
	},
	"a lost commit is looked up over the connections that lost it": {
		"postgres_commit.go", "x.end() // its locks must not block the lookup", "m.resolves = m.writes",
		"TestEveryResponseLost/few_connections",
	},
	"a locked row fails all calls of its batch": {
		"postgres_worker.go", "	if blameless {", "	if blameless || true {", "TestLockedRow",
	},
	"what a write depends on is read without a lock": {
		"dialect.go", `"{for_update}", "FOR NO KEY UPDATE OF held"`, `"{for_update}", ""`, "TestReadModifyWrite/postgres",
	},
	"a write that returned rows is not committed": {
		"postgres_worker.go", "	case err == nil:\n", "	case err == nil && t.changed == 0:\n\t\treturn nil\n	case err == nil:\n", "TestWritesAreCommitted/postgres",
	},
	"a write that returned rows is not committed on SQLite": {
		"sqlite_write.go", "w.mustCommit = true", "w.mustCommit = w.mustCommit || t.changed > 0", "TestWritesAreCommitted/sqlite",
	},
	"tenants that read do not take turns": {
		"postgres.go", "m.readLimiter.Acquire(ctx, admission.Request{Tenant: tenant})", `m.readLimiter.Acquire(ctx, admission.Request{})`, "TestReadersTakeTurns/postgres",
	},
	"tenants that read do not take turns on SQLite": {
		"sqlite_read.go", "r.limiter.Acquire(ctx, admission.Request{Tenant: tenant})", `r.limiter.Acquire(ctx, admission.Request{})`, "TestReadersTakeTurns/sqlite",
	},
	"a read waits as long as its disk does": {
		"sqlite_read.go", "	return pending.wait(", "	<-pending.done\n	return pending.wait(", "TestHungDiskDoesNotBlockReaders",
	},
}

// TestMutationsAreFound builds the package with each mutation, using an
// overlay, and expects the test for that mistake to fail.
func TestMutationsAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the package for each mutation")
	}
	pgtest.URL(t) // starts the server that the tests share
	for name, m := range mutations {
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Count(string(source), m.text) != 1 {
				t.Fatalf("%s does not contain %q once", m.file, m.text)
			}
			folder := t.TempDir()
			mutated, overlay := filepath.Join(folder, m.file), filepath.Join(folder, "overlay.json")
			path, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			files, _ := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
			for file, content := range map[string][]byte{mutated: []byte(strings.Replace(string(source), m.text, m.replacement, 1)), overlay: files} {
				if err := os.WriteFile(file, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-timeout=3m", "-overlay", overlay, "-run", "^"+m.test, ".")
			output, err := command.CombinedOutput()
			switch {
			case err == nil:
				t.Errorf("%s did not fail:\n%s", m.test, output)
			case !strings.Contains(string(output), "--- FAIL"):
				t.Errorf("%s did not run:\n%s", m.test, output)
			default:
				t.Logf("found: %.300s", output)
			}
		})
	}
}
