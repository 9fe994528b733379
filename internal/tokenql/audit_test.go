package tokenql_test

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"landfall/internal/tokenql"
)

// TestServerAudits runs the public GraphQL over HTTP server audits, with the
// schema open to introspection and without.
func TestServerAudits(t *testing.T) {
	packages := auditPackages(t)
	for name, introspection := range map[string]bool{"introspection on": true, "introspection off": false} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(tokenql.New(&stubIssuer{}, tokenql.Options{Introspection: introspection}))
			defer server.Close()
			output, err := exec.CommandContext(t.Context(), "node", "audit/audit.mjs", server.URL+"/v1/graphql/", packages).Output()
			if err != nil {
				t.Fatalf("the audits did not run: %v", err)
			}
			passed := 0
			for lines := bufio.NewScanner(bytes.NewReader(output)); lines.Scan(); {
				var audit struct{ ID, Name, Status, Reason string }
				if err := json.Unmarshal(lines.Bytes(), &audit); err != nil {
					t.Fatalf("%v in %s", err, lines.Text())
				}
				if audit.Status == "ok" {
					passed++
					continue
				}
				t.Errorf("%s %s: %s (%s)", audit.ID, audit.Name, audit.Status, audit.Reason)
			}
			if passed < 61 {
				t.Errorf("%d audits passed, want all 61", passed)
			}
		})
	}
}

// auditPackages gives a folder with the audits in it, and installs them there
// when they are not. A machine without node skips; the pipeline must have it.
func auditPackages(t *testing.T) string {
	t.Helper()
	for _, tool := range []string{"node", "npm"} {
		if _, err := exec.LookPath(tool); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing: install Node.js, the GraphQL audits are part of the pipeline", tool)
		}
		t.Skipf("%s is missing: the GraphQL audits are skipped", tool)
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = t.TempDir()
	}
	lock, err := os.ReadFile("audit/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(lock)
	folder := filepath.Join(cache, "landfall", "graphql-audit-"+hex.EncodeToString(sum[:6]))
	if _, err := os.Stat(filepath.Join(folder, "installed")); err == nil {
		return folder
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json", ".npmrc"} {
		content, err := os.ReadFile(filepath.Join("audit", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund")
	install.Dir = folder
	if output, err := install.CombinedOutput(); err != nil {
		t.Fatalf("npm ci: %v\n%s", err, strings.TrimSpace(string(output)))
	}
	if err := os.WriteFile(filepath.Join(folder, "installed"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}
