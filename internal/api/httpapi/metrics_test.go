package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// The metrics show which organisations are over a quota, but only a limited
// number of them, so that they stay readable.
func TestQuotaRefusalsNameTheOrganisation(t *testing.T) {
	h := newTestAPI(t)
	for range 3 {
		h.api.Metrics.CountQuotaRefusal("Acme", "requests_per_second")
	}
	for i := range 2000 {
		h.api.Metrics.CountQuotaRefusal(fmt.Sprint("Organisation ", i), "tokens_per_minute")
	}
	h.api.Metrics.CountQuotaRefusal("Acme", "requests_per_second")
	shown := httptest.NewRecorder()
	h.api.Ops().ServeHTTP(shown, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(shown.Body.String(), `landfall_quota_refused_total{organisation="Acme",quota="requests_per_second"} 4`) {
		t.Error("the organisation is not named")
	}
	// All others are counted together under an empty name, which has a line for
	// each quota from the start.
	const quotas = 5
	if count := strings.Count(shown.Body.String(), "landfall_quota_refused_total{"); count != maxOrganisationLabels+quotas {
		t.Errorf("%d lines", count)
	}
}
