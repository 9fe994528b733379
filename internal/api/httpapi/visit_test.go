package httpapi

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"landfall/internal/test/tooltest"
)

// The reference page used to show none of its examples, and the request it
// filled in was refused. A real browser opens and reads it, and tries every
// call as filled in, in the order of the page.
func TestReferencePageTriesExamples(t *testing.T) {
	tooltest.SkipIfShort(t)
	browser := tooltest.Debian(t, "chromium")
	modules := filepath.Join(tooltest.Node(t, "testdata/client/node"), "node_modules")
	h := openDemo(t)
	folder := copyFolder(t, "testdata/client/node")
	if err := os.Symlink(modules, filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	visit := exec.CommandContext(t.Context(), "node", "visit.mjs", browser, h.server.URL, "Token "+h.tokens["importer"])
	visit.Dir, visit.Stderr = folder, os.Stderr
	output, err := visit.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	var seen struct {
		Complaints []string `json:"complaints"`
		Calls      map[string]struct {
			Filled  string `json:"filled"`
			Answers string `json:"answers"`
			Status  int    `json:"status"`
		} `json:"calls"`
	}
	if err := json.Unmarshal(output, &seen); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if len(seen.Complaints) > 0 {
		t.Errorf("the browser complains: %q", seen.Complaints)
	}
	// Matches a part of every example, and nothing else on the page.
	hint := regexp.MustCompile(`EXT-000\d|[AR]-7K2M9QXZ|_SUCCESS|TRANSACTION_ADDED|payment_instructions\.\*|customers_required|52\.50|report_sha256`)
	created := map[string]bool{stagePath: true, processPath: true, notesPath: true, transactionsPath: true, statementsPath: true, instructionPath: true}
	for _, r := range routeTable() {
		if r.doc == nil {
			continue
		}
		id := strings.ToLower(r.method) + "-" + strings.NewReplacer("{", "-", "}", "-").Replace(r.path)
		call, shown := seen.Calls[id]
		want := 200
		switch {
		case created[r.path], r.doc == startRunDoc:
			want = 201
		case strings.Contains(r.path, "{run_id}"):
			want = 404 // the id of the run is not known beforehand
		case strings.Contains(r.path, "{delivery_id}"):
			want = 404 // nothing is delivered here
		case strings.HasPrefix(r.path, importPath+"/accounts/"):
			want = 403 // the page has an importer's token
		}
		switch {
		case !shown:
			t.Errorf("%s is not on the page", id)
		case call.Status != want:
			t.Errorf("%s as it is filled in: %d, want %d\n%s", id, call.Status, want, call.Filled)
		case r.hasBody() && r.doc.tag != tagRuns && r.doc.tag != tagProof && r.doc.tag != tagTargets && !strings.Contains(call.Filled, "EXT-0001"):
			t.Errorf("%s is filled in with %s", id, call.Filled)
		case r.access != publicAccess && r.doc != supplierOpenAPIDoc && !hint.MatchString(call.Answers):
			t.Errorf("%s shows no example: %s", id, strings.Join(strings.Fields(call.Answers), " "))
		}
		for _, made := range []string{`"string"`, "AAAAAA"} {
			if strings.Contains(call.Answers, made) || strings.Contains(call.Filled, made) {
				t.Errorf("%s shows a made-up %s", id, made)
			}
		}
	}
}
