package httpapi

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
)

// lastRequest returns the fields of the newest log line about a request.
func (h *testAPI) lastRequest() map[string]any {
	h.t.Helper()
	var last map[string]any
	for line := range strings.Lines(h.log.String()) {
		var fields map[string]any
		if err := json.Unmarshal([]byte(line), &fields); err != nil {
			h.t.Fatalf("%v in %s", err, line)
		}
		if fields["msg"] == "request" {
			last = fields
		}
	}
	return last
}

// The log line of a request used to lack what one searches for: the error code,
// the supplier and the caller. It also did not say the unit of the duration.
func TestRequestLogHasSearchableFields(t *testing.T) {
	h := newTestAPI(t)
	expect := func(wants map[string]any) {
		t.Helper()
		line := h.lastRequest()
		for name, want := range wants {
			if line[name] != want {
				t.Errorf("%s is %v, want %v, in %v", name, line[name], want, line)
			}
		}
		if _, is := line["duration_ms"].(float64); !is || line["duration"] != nil {
			t.Errorf("the duration does not say its unit: %v", line)
		}
	}
	h.call("importer", "POST", stagePath, accountJSON("OURS", "1"))
	expect(map[string]any{"status": 201.0, "supplier": "OURS", "client": "127.0.0.1", "code": nil})
	h.call("importer", "POST", processPath, creation("OURS", "unknown"))
	expect(map[string]any{"status": 400.0, "supplier": "OURS", "code": "import_process_does_not_exist"})
	h.call("viewer", "GET", allPath, "")
	expect(map[string]any{"status": 200.0, "supplier": "OURS"})
	// A supplier that was not granted is only what the caller typed, and must not
	// be logged.
	h.call("importer", "POST", stagePath, accountJSON("THEIRS", "1"))
	expect(map[string]any{"status": 400.0, "supplier": nil, "code": "account_failed_validation"})
	h.call("", "GET", allPath, "")
	expect(map[string]any{"status": 401.0, "supplier": nil, "code": "not_authenticated"})
}

// A dry run that succeeded used to count as a failure.
func TestDryRunThatPassedIsNoFailure(t *testing.T) {
	h := newTestAPI(t)
	h.call("importer", "POST", stagePath, accountJSON("OURS", "1"))
	dryRun := strings.Replace(creation("OURS", "1"), "{", `{"dry_run":true,`, 1)
	if got := h.call("importer", "POST", processPath, dryRun); got.code() != "dry_run_rolled_back" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	recorder := httptest.NewRecorder()
	h.api.Ops().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	figures := recorder.Body.String()
	if !strings.Contains(figures, `landfall_account_attempts_total{outcome="dry_run_passed"} 1`) {
		t.Error("the dry run is not counted as passed")
	}
	// The counters of frequent error codes exist from the start.
	if regexp.MustCompile(`landfall_account_attempts_failed_total\{[^}]*\} [1-9]`).MatchString(figures) {
		t.Error("the dry run is counted as failed")
	}
}

func TestLinksUseTheBaseURL(t *testing.T) {
	h := newTestAPI(t, func(o *Options) { o.BaseURL = "https://api.example.com/landfall" })
	h.stageMany(2)
	got := h.call("viewer", "GET", allPath+"?limit=1", "")
	if link := got.header.Get("Link"); !strings.HasPrefix(link, "<https://api.example.com/landfall"+allPath+"?limit=1&after=") {
		t.Errorf("got %s", link)
	}
}

func TestHeadMatchesGet(t *testing.T) {
	h := newTestAPI(t)
	h.stageMany(3)
	for _, path := range []string{allPath, allPath + "?limit=1", importPath + "/rules/", "/healthz", "/docs/", "/openapi.json", "/v1/graphql/?query=%7B__typename%7D"} {
		get, head := h.call("viewer", "GET", path, ""), h.call("viewer", "HEAD", path, "")
		if head.status != get.status || head.body != "" || head.header.Get("Content-Length") != get.header.Get("Content-Length") ||
			head.header.Get("Link") != get.header.Get("Link") {
			t.Errorf("%s: %d %v", path, head.status, head.header)
		}
	}
	if got := h.call("importer", "HEAD", stagePath, ""); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("where GET is not: %d %v", got.status, got.header)
	}
}
