package httpapi

import (
	"strings"
	"testing"
	"time"

	"landfall/internal/lib/admission"
)

// The timeout of a request used to end like a client that left: with an aborted
// connection instead of a response.
func TestExpiredRequestTimeIsReported(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open(func(o *Options) { o.RequestTimeout = time.Nanosecond })
		got := h.call("importer", "POST", stagePath, accountJSON("OURS", "1"))
		if got.status != 503 || got.code() != "service_unavailable" || got.header.Get("Retry-After") == "" {
			t.Errorf("got %d %s %v", got.status, got.body, got.header)
		}
	})
}

// Too many requests get a regular response that says when to retry. It is not a
// server error, so the log is not flooded.
func TestOverloadIsRefusedWithRetryAfter(t *testing.T) {
	onBoth(t, func(t *testing.T, open openFunc) {
		h := open(func(*Options) {})
		h.api.requests = admission.NewLimiter(admission.Limits{Capacity: 1, Wait: 10 * time.Millisecond, Refusal: errBusy})
		leave, err := h.api.requests.Acquire(t.Context(), admission.Request{Tenant: "Somebody"})
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{stagePath, validatePath} {
			got := h.call("importer", "POST", path, accountJSON("OURS", "1"))
			if got.status != 503 || got.code() != "service_unavailable" || got.header.Get("Retry-After") != "1" {
				t.Errorf("got %d %s %v", got.status, got.body, got.header)
			}
		}
		if strings.Contains(h.log.String(), "request failed") {
			t.Errorf("the log says:\n%s", h.log.String())
		}
		leave()
		if got := h.call("importer", "POST", stagePath, accountJSON("OURS", "1")); got.status != 201 {
			t.Errorf("afterwards: %d %s", got.status, got.body)
		}
	})
}
