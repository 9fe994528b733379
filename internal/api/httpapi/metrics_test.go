package httpapi

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Operators see who is over a quota, and however many they are the metrics stay
// short enough to be read.
func TestQuotaRefusalsNameTheOrganisation(t *testing.T) {
	h := openHouse(t)
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
	// All others are counted under nobody's name, which has a line for each quota
	// before anybody is refused.
	const quotas = 5
	if count := strings.Count(shown.Body.String(), "landfall_quota_refused_total{"); count != maxOrganisationLabels+quotas {
		t.Errorf("%d lines", count)
	}
}
