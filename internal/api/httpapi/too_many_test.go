package httpapi

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"landfall"
	"landfall/internal/service/quota"
)

// Every operation that needs a token can be refused because of a quota. The
// document did not say so for 19 of them, so generated clients did not know the
// response.
func TestEveryOperationOverAQuotaIsDescribed(t *testing.T) {
	document, err := openapi3.NewLoader().LoadFromData(OpenAPI())
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	h := newTestAPI(t)
	h.api.Quota = quota.New(h.store, func() time.Time { return now }, nil)
	ctx := t.Context()
	err = h.store.Update(ctx, func(tx landfall.Tx) error {
		return tx.SetQuotas(ctx, "ours", landfall.Quotas{RequestsPerSecond: 1})
	})
	if err != nil {
		t.Fatal(err)
	}
	// The clock stands still, so after the first refusal everything is refused.
	for range 10 {
		if h.call("importer", http.MethodGet, importPath+"/rules/", "").status == http.StatusTooManyRequests {
			break
		}
	}
	// A connection whose client does not wait as it was told is held for a second.
	newConnection := func(request *http.Request) { request.Close = true }
	described := 0
	for _, r := range routeTable() {
		if r.doc == nil || r.access == publicAccess {
			continue
		}
		path, body := regexp.MustCompile(`\{[a-z_]+\}`).ReplaceAllString(r.path, "OURS"), ""
		if r.method != http.MethodGet {
			body = "{}"
		}
		who := "importer"
		if r.access == personalAccess {
			who = "reader"
		}
		got := h.call(who, r.method, path, body, linesWhere(path), newConnection)
		if got.status != http.StatusTooManyRequests || got.code() != landfall.CodeQuotaExceeded || got.header.Get("Retry-After") == "" {
			t.Errorf("%s %s: %d %s", r.method, path, got.status, got.body)
			continue
		}
		request, _ := http.NewRequestWithContext(ctx, r.method, h.server.URL+path, nil)
		err := openapi3filter.ValidateResponse(ctx, &openapi3filter.ResponseValidationInput{
			RequestValidationInput: &openapi3filter.RequestValidationInput{Request: request, Route: describedAs(document, h.api, r.method, path)},
			Status:                 got.status, Header: got.header, Body: io.NopCloser(strings.NewReader(got.body)),
			Options: &openapi3filter.Options{IncludeResponseStatus: true},
		})
		if err != nil {
			t.Errorf("%s: a request over a quota does not match the document: %v", r.doc.id, err)
		}
		if answer := document.Paths.Value(r.path).GetOperation(r.method).Responses.Status(http.StatusTooManyRequests); answer != nil {
			described++
			if answer.Value.Headers["Retry-After"] == nil || !strings.Contains(*answer.Value.Description, "quota") {
				t.Errorf("%s: the response 429 must have Retry-After and mention quotas: %s", r.doc.id, *answer.Value.Description)
			}
		}
	}
	if described < 20 {
		t.Errorf("only %d operations were checked", described)
	}
}
