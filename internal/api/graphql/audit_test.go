package graphql_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"testing"

	"landfall/internal/api/graphql"
	"landfall/internal/test/tooltest"
)

// TestServerAudits runs the public GraphQL over HTTP server audits with
// introspection on and off.
func TestServerAudits(t *testing.T) {
	packages := tooltest.Node(t, "audit")
	for name, introspection := range map[string]bool{"introspection on": true, "introspection off": false} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(graphql.New(&stubIssuer{}, graphql.Options{Introspection: introspection}))
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
