package importer

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"landfall/client"
)

// counter is a watcher that keeps the last count of each kind of failure.
type counter map[string]int

func (c counter) Begin(Phase, int)                  {}
func (c counter) Progress(Phase, int, int)          {}
func (c counter) End(Phase)                         {}
func (c counter) Notice(string)                     {}
func (c counter) Failure(code, _ string, count int) { c[code] = max(c[code], count) }

// TestFailuresOfARunAreCountedOnce interrupts the list of a run's failures after its first page.
// The retry starts from the beginning, and the watcher must not count twice.
func TestFailuresOfARunAreCountedOnce(t *testing.T) {
	var broke atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Method == http.MethodPost:
			fmt.Fprint(w, `{"data":{"obtainServiceToken":{"token":"t","expiresIn":3600}}}`)
		case r.URL.Query().Get("after") == "":
			w.Header().Set("Link", `</?limit=2&after=2>; rel="next"`)
			fmt.Fprint(w, `[{"external_account_number":"1","code":"wrong"},{"external_account_number":"2","code":"wrong"}]`)
		case broke.CompareAndSwap(false, true):
			w.WriteHeader(http.StatusServiceUnavailable)
		default:
			fmt.Fprint(w, `[{"external_account_number":"3","code":"wrong"}]`)
		}
	}))
	defer server.Close()
	c, err := client.New(server.URL, client.WithKey("k"), client.WithRetryTime(0))
	if err != nil {
		t.Fatal(err)
	}
	seen := counter{}
	m, err := New(c, bookOf(t), seen)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.recordRun(t.Context(), "NORTH", client.Run{ID: "r", Selected: 3, Failed: 3}); err != nil {
		t.Fatal(err)
	}
	if !broke.Load() || seen["wrong"] != 3 {
		t.Errorf("broke off: %v; the watcher got %d failures, want 3", broke.Load(), seen["wrong"])
	}
	if kept := externals(t, m.journal); kept != "1 2 3" {
		t.Errorf("kept %q", kept)
	}
}
