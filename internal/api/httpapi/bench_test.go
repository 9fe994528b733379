package httpapi

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
)

// typicalAccount is an account of about two kilobytes.
func typicalAccount(b *testing.B) string {
	body, err := os.ReadFile("../contract/testdata/typical.json")
	if err != nil {
		b.Fatal(err)
	}
	return supplierMember.ReplaceAllString(string(body), `"import_supplier": "OURS"`)
}

var supplierMember = regexp.MustCompile(`"import_supplier": *"[^"]*"`)

// postMany sends the same body over many connections until the benchmark is
// over.
func postMany(b *testing.B, url, token, body string) {
	b.Helper()
	b.ReportAllocs()
	b.SetParallelism(32)
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 128}}
	b.RunParallel(func(loop *testing.PB) {
		for loop.Next() {
			request, _ := http.NewRequest(http.MethodPost, url, strings.NewReader(body))
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("Authorization", "Token "+token)
			response, err := client.Do(request)
			if err != nil {
				b.Error(err)
				return
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode != http.StatusOK {
				b.Errorf("status %d", response.StatusCode)
				return
			}
		}
	})
}

func BenchmarkValidate(b *testing.B) {
	h := newTestAPI(b, func(o *Options) { o.Logger = slog.New(slog.NewJSONHandler(struct{ io.Writer }{io.Discard}, nil)) })
	postMany(b, h.server.URL+validatePath, h.tokens["importer"], typicalAccount(b))
}

// BenchmarkBareDecode is the baseline: a server that only decodes the JSON.
func BenchmarkBareDecode(b *testing.B) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, "{}")
	}))
	b.Cleanup(server.Close)
	postMany(b, server.URL, "", typicalAccount(b))
}

// BenchmarkValidateHandler measures the handler without the network.
func BenchmarkValidateHandler(b *testing.B) {
	h := newTestAPI(b, func(o *Options) { o.Logger = slog.New(slog.NewJSONHandler(struct{ io.Writer }{io.Discard}, nil)) })
	body := typicalAccount(b)
	b.ReportAllocs()
	for b.Loop() {
		request := httptest.NewRequest(http.MethodPost, validatePath, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Token "+h.tokens["importer"])
		recorder := httptest.NewRecorder()
		h.api.ServeHTTP(recorder, request)
		if recorder.Code != http.StatusOK {
			b.Fatal(recorder.Body)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	h := newTestAPI(b)
	h.withRoute("/rows/", func(a *API, _ context.Context, x *exchange) error {
		var left bool
		return a.streamed(x, entrySequence(100_000, nil, &left))
	})
	b.ReportAllocs()
	for b.Loop() {
		response, err := http.Get(h.server.URL + "/rows/")
		if err != nil {
			b.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
}
