package httpapi

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/lib/limits"
)

// withRoute adds a route to the API, for faults that no real route has.
func (h *testAPI) withRoute(path string, page func(*API, context.Context, *exchange) error) {
	h.api.tree.add(path, &route{method: http.MethodGet, path: path, page: page})
}

func TestPanicIsContained(t *testing.T) {
	h := newTestAPI(t)
	h.withRoute("/panic/text/", func(*API, context.Context, *exchange) error { panic("Ada Canary") })
	h.withRoute("/panic/runtime/", func(_ *API, _ context.Context, x *exchange) error { return []error{}[len(x.params)] })
	h.withRoute("/panic/late/", func(_ *API, _ context.Context, x *exchange) error {
		_, _ = x.Write([]byte(strings.Repeat("[", 10000)))
		panic("late")
	})
	for _, path := range []string{"/panic/text/", "/panic/runtime/"} {
		got := h.call("", "GET", path, "", func(r *http.Request) { r.Header.Set("X-Request-ID", "find-me") })
		if got.status != 500 || got.code() != "internal_error" || strings.Contains(got.body, "Canary") {
			t.Errorf("%s: got %d %s", path, got.status, got.body)
		}
	}
	log := h.log.String()
	for _, want := range []string{"find-me", "fault_test.go", "index out of range", "/panic/text/"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %q", want)
		}
	}
	if strings.Contains(log, "Canary") {
		t.Error("the text of a panic was logged")
	}
	h.expectAbort("/panic/late/")
	if got := h.call("", "GET", "/healthz", ""); got.status != 200 {
		t.Errorf("afterwards: %d", got.status)
	}
}

// expectAbort sends a request whose response must not arrive completely.
func (h *testAPI) expectAbort(path string) {
	h.t.Helper()
	request, _ := http.NewRequestWithContext(h.t.Context(), http.MethodGet, h.server.URL+path, nil)
	request.Header.Set("Authorization", "Token "+h.tokens["importer"])
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return
	}
	defer response.Body.Close()
	if body, err := io.ReadAll(response.Body); err == nil {
		h.t.Errorf("%s looks complete: %.100q", path, body)
	}
}

func TestForeignErrorsAreNotShown(t *testing.T) {
	h := newTestAPI(t)
	h.withRoute("/foreign/", func(*API, context.Context, *exchange) error { return errors.New("pq: secret detail") })
	h.withRoute("/busy/", func(*API, context.Context, *exchange) error {
		return &landfall.Error{Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, Detail: "Later.", RetryAfter: 1500e6}
	})
	if got := h.call("", "GET", "/foreign/", ""); got.status != 500 || got.code() != "internal_error" || strings.Contains(got.body, "pq") {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := h.call("", "GET", "/busy/", ""); got.status != 503 || got.header.Get("Retry-After") != "2" {
		t.Errorf("got %d %v", got.status, got.header)
	}
}

func TestReadiness(t *testing.T) {
	away, draining, asked := false, false, 0
	h := newTestAPI(t, func(o *Options) {
		o.Ready = func(context.Context) error {
			asked++
			if away {
				return landfall.ErrUnavailable
			}
			return nil
		}
		o.Draining = func() bool { return draining }
	})
	expect := func(path string, status int) reply {
		t.Helper()
		got := h.call("", "GET", path, "")
		if got.status != status {
			t.Errorf("%s: got %d %s, want %d", path, got.status, got.body, status)
		}
		return got
	}
	expect("/readyz", 200)
	expect("/readyz", 200)
	if asked != 1 {
		t.Errorf("the database was asked %d times", asked)
	}
	away = true
	h.api.ready.until = h.api.ready.until.Add(-limits.ReadyCache)
	if got := expect("/readyz", 503); got.code() != "service_unavailable" || got.header.Get("Retry-After") == "" {
		t.Errorf("got %s %v", got.body, got.header)
	}
	expect("/healthz", 200)
	away, draining = false, true
	h.api.ready.until = h.api.ready.until.Add(-limits.ReadyCache)
	if got := expect("/readyz", 503); !got.closes {
		t.Error("a connection is kept while shutting down")
	}
	expect("/healthz", 200)
	// Three probers wrote nine hundred lines in five minutes without a database.
	if log := h.log.String(); strings.Contains(log, `"level":"INFO","msg":"request"`) || !strings.Contains(log, `"status":503`) {
		t.Errorf("probes are logged as requests of callers are:\n%s", log)
	}
}

func TestDatabaseUnavailable(t *testing.T) {
	h := newTestAPI(t)
	if err := h.closeStore(); err != nil {
		t.Fatal(err)
	}
	got := h.call("importer", "GET", allPath, "")
	if got.status != 503 || got.code() != "service_unavailable" || got.header.Get("Retry-After") == "" {
		t.Errorf("got %d %s %v", got.status, got.body, got.header)
	}
}
