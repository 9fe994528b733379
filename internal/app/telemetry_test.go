package app_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall/internal/app"
	"landfall/internal/test/dbtest"
)

// collector is an OTLP receiver that keeps the requests.
type collector struct {
	*httptest.Server
	mu   sync.Mutex
	sent map[string]string // by path
	keys []string          // values of the header X-Collector-Key
}

func newCollector(t *testing.T) *collector {
	c := &collector{sent: map[string]string{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		compressed, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Errorf("%s is not compressed: %v", r.URL.Path, err)
			return
		}
		body, _ := io.ReadAll(compressed)
		c.mu.Lock()
		defer c.mu.Unlock()
		c.sent[r.URL.Path] += string(body)
		c.keys = append(c.keys, r.Header.Get("X-Collector-Key"))
		w.Header().Set("Content-Type", "application/json")
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) has(path, text string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Contains(c.sent[path], text)
}

// Traces and metrics arrive at a collector with the configured header and within the
// caller's trace, and contain none of the caller's data.
func TestTelemetryArrives(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	r := startServer(t, dbtest.SQLite(t), func(settings *app.Settings) {
		settings.Telemetry = app.TelemetrySettings{Endpoint: c.URL, Headers: "x-collector-key=hush", TracePercent: 100, MetricsInterval: time.Second}
	})
	// Probes are all alike, and are not traced.
	for _, path := range []string{"/readyz", "/healthz"} {
		response, err := http.DefaultClient.Do(r.request(http.MethodGet, path, ""))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	request := r.request(http.MethodPost, stagePath, strings.Replace(stageBody("CANARY-1"), "{}", `{"family_name":"Canary"}`, 1))
	request.Header.Set("Traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	for deadline := time.Now().Add(30 * time.Second); !c.has("/v1/traces", "POST "+stagePath) || !c.has("/v1/metrics", "landfall_stagings_total"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("nothing arrived: %v", c.keys)
		}
	}
	if c.has("/v1/traces", "readyz") || c.has("/v1/traces", "healthz") {
		t.Error("a probe was traced")
	}
	if !c.has("/v1/traces", "0af7651916cd43dd8448eb211c80319c") {
		t.Error("the caller's trace was not continued")
	}
	for _, path := range []string{"/v1/traces", "/v1/metrics"} {
		for _, secret := range []string{"CANARY-1", "Canary", r.words["token"]} {
			if c.has(path, secret) {
				t.Errorf("%s contains %q", path, secret)
			}
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range c.keys {
		if key != "hush" {
			t.Errorf("the header was %q", key)
		}
	}
}

// An unavailable collector does not delay requests.
func TestCollectorUnavailable(t *testing.T) {
	t.Parallel()
	r := startServer(t, dbtest.SQLite(t), func(settings *app.Settings) {
		settings.Telemetry = app.TelemetrySettings{Endpoint: "http://127.0.0.1:1", TracePercent: 100, MetricsInterval: time.Second}
	})
	response, err := http.DefaultClient.Do(r.request(http.MethodPost, stagePath, stageBody("A-1")))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusCreated {
		t.Errorf("status %d", response.StatusCode)
	}
}
