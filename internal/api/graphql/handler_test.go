package graphql_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/api/graphql"
	"landfall/internal/service/auth"
)

// canary is a secret that must not appear in any output.
const canary = "lf_canarycana_ry0canary0canary0canary0canary0canary0canary0canary0"

// stubIssuer returns preset results and counts its calls. The issuer itself has
// its own tests, and another file here tests it with this handler over a real
// store. A stub makes each of its results easy to produce.
type stubIssuer struct {
	err    error
	panics bool
	keys   []string
	source string
}

func (s *stubIssuer) Issue(_ context.Context, source, key string) (auth.Grant, error) {
	if s.panics {
		panic("broken")
	}
	s.keys, s.source = append(s.keys, key), source
	return auth.Grant{ExpiresIn: time.Hour, RefreshExpiresIn: 7 * 24 * time.Hour}, s.err
}

func (s *stubIssuer) Refresh(ctx context.Context, source, token string) (auth.Grant, error) {
	return s.Issue(ctx, source, "refresh:"+token)
}

const login = `mutation ($key: String!) { obtainServiceToken(input: {apiKey: $key}) { token expiresIn refreshToken refreshExpiresIn } }`

// post returns a request with a document and variables.
func post(document string, variables map[string]any) *http.Request {
	body, _ := json.Marshal(map[string]any{"query": document, "variables": variables})
	r := httptest.NewRequest(http.MethodPost, "/v1/graphql/", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

// answer is a decoded response.
type answer struct {
	*httptest.ResponseRecorder
	Errors []struct {
		Message    string
		Path       []any
		Extensions struct{ Code string }
	}
	Data map[string]json.RawMessage
}

func (a answer) code() string {
	if len(a.Errors) == 0 {
		return ""
	}
	return a.Errors[0].Extensions.Code
}

// ask serves a request and checks what every response must satisfy.
func ask(t *testing.T, handler http.Handler, r *http.Request) answer {
	t.Helper()
	got := answer{ResponseRecorder: httptest.NewRecorder()}
	handler.ServeHTTP(got.ResponseRecorder, r)
	if err := json.Unmarshal(got.Body.Bytes(), &got); err != nil {
		t.Fatalf("%v in the answer %q", err, got.Body)
	}
	if got.Header().Get("Cache-Control") != "no-store" || got.Header().Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("headers are %v", got.Header())
	}
	if body := got.Body.String(); strings.Contains(strings.ToLower(body), canary[3:]) {
		t.Errorf("the answer repeats the key: %s", body)
	}
	for _, entry := range got.Errors {
		if entry.Message == "" || entry.Extensions.Code == "" {
			t.Errorf("an error without message or code: %s", got.Body)
		}
	}
	return got
}

// TestBothSpellingsObtainAToken uses both names of the mutation, because
// integrators have used either.
func TestBothSpellingsObtainAToken(t *testing.T) {
	for _, field := range []string{"obtainServiceToken", "ObtainServiceToken"} {
		issuer := &stubIssuer{}
		handler := graphql.New(issuer, graphql.Options{})
		document := strings.Replace(login, "obtainServiceToken", field, 1)
		document = strings.Replace(document, "mutation", "mutation ObtainServiceToken", 1)
		got := ask(t, handler, post(document, map[string]any{"key": canary}))
		if got.Code != http.StatusOK || len(got.Errors) > 0 || len(issuer.keys) != 1 || issuer.keys[0] != canary {
			t.Fatalf("%s: %d %s", field, got.Code, got.Body)
		}
		var token struct{ ExpiresIn, RefreshExpiresIn int }
		if err := json.Unmarshal(got.Data[field], &token); err != nil || token.ExpiresIn != 3600 || token.RefreshExpiresIn != 604800 {
			t.Errorf("%s: %v in %s", field, err, got.Body)
		}
		if issuer.source != "192.0.2.1" {
			t.Errorf("the source is %q", issuer.source)
		}
	}
}

// TestRefresh obtains a token with only a refresh token. The empty key beside it
// must not count as a key.
func TestRefresh(t *testing.T) {
	issuer := &stubIssuer{}
	got := ask(t, graphql.New(issuer, graphql.Options{}),
		post(`mutation { obtainServiceToken(input: {refreshToken: "r", apiKey: null}) { token } }`, nil))
	if got.Code != http.StatusOK || len(got.Errors) > 0 || len(issuer.keys) != 1 || issuer.keys[0] != "refresh:r" {
		t.Errorf("%d %s, asked %q", got.Code, got.Body, issuer.keys)
	}
}

// TestExactlyOneCredential sends none, or two. The service must not choose
// between two, and calling the issuer with none would count as a guess.
func TestExactlyOneCredential(t *testing.T) {
	for _, input := range []string{`{}`, `{apiKey: null}`, `{apiKey: null, refreshToken: null}`, `{apiKey: "a", refreshToken: "b"}`} {
		issuer := &stubIssuer{}
		got := ask(t, graphql.New(issuer, graphql.Options{}),
			post(`mutation { obtainServiceToken(input: `+input+`) { token } }`, nil))
		if got.Code != http.StatusOK || got.code() != "AUTHENTICATION_FAILED" || string(got.Data["obtainServiceToken"]) != "null" || len(issuer.keys) > 0 {
			t.Errorf("%s: %d %s", input, got.Code, got.Body)
		}
	}
}

// TestFailuresOfTheIssuer makes the issuer fail in every way. A caller who is
// told that a key is invalid while the database is unavailable would discard a
// valid key.
func TestFailuresOfTheIssuer(t *testing.T) {
	cases := map[string]struct {
		err          error
		status       int
		code, after  string
		logged, data bool
	}{
		"bad key": {err: &landfall.Error{Kind: landfall.Unauthenticated, Code: landfall.CodeAuthenticationFailed},
			status: 200, code: "AUTHENTICATION_FAILED", data: true},
		"too many": {err: &landfall.Error{Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: 2500 * time.Millisecond},
			status: 429, code: "RATE_LIMITED", after: "3"},
		"database away": {err: &landfall.Error{Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: time.Second},
			status: 503, code: "SERVICE_UNAVAILABLE", after: "1", logged: true},
		"broken": {err: errors.New("driver text with column names"), status: 500, code: "INTERNAL_SERVER_ERROR", logged: true},
	}
	for name, c := range cases {
		for _, accept := range []string{"application/json", "application/graphql-response+json"} {
			var log bytes.Buffer
			handler := graphql.New(&stubIssuer{err: c.err}, graphql.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
			request := post(login, map[string]any{"key": canary})
			request.Header.Set("Accept", accept)
			got := ask(t, handler, request)
			if got.Code != c.status || got.code() != c.code || got.Header().Get("Retry-After") != c.after {
				t.Errorf("%s: %d %v %s", name, got.Code, got.Header(), got.Body)
			}
			if (got.Data != nil) != c.data || c.data && string(got.Data["obtainServiceToken"]) != "null" {
				t.Errorf("%s: data is %s", name, got.Data)
			}
			if (log.Len() > 0) != c.logged || strings.Contains(log.String(), canary[3:]) {
				t.Errorf("%s: logged %q", name, log.String())
			}
			if strings.Contains(got.Body.String(), "driver") {
				t.Errorf("%s: the cause is shown: %s", name, got.Body)
			}
		}
	}
}

// TestPanicIsAnInternalError makes the issuer panic. Neither the answer nor the
// log may contain the key that was sent.
func TestPanicIsAnInternalError(t *testing.T) {
	var log bytes.Buffer
	handler := graphql.New(&stubIssuer{panics: true}, graphql.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	got := ask(t, handler, post(login, map[string]any{"key": canary}))
	if got.Code != http.StatusInternalServerError || got.code() != "INTERNAL_SERVER_ERROR" {
		t.Errorf("%d %s", got.Code, got.Body)
	}
	if !strings.Contains(log.String(), "panic") || strings.Contains(log.String(), canary[3:]) {
		t.Errorf("logged %q", log.String())
	}
}

// TestIntrospectionAndHintsAreASetting requests the schema with introspection on
// and off. With introspection off, hints would reveal the schema word by word.
func TestIntrospectionAndHintsAreASetting(t *testing.T) {
	const schema = `{ __schema { types { name } } __type(name: "Mutation") { name } }`
	const mistyped = `mutation { obtainServiceTokn(input: {apiKey: "` + canary + `"}) { token } }`
	const misused = `mutation { obtainServiceToken(input: {apiKey: "x"}) { ` + canary + ` } }`
	for _, on := range []bool{true, false} {
		handler := graphql.New(&stubIssuer{}, graphql.Options{Introspection: on})
		if got := ask(t, handler, post(schema, nil)); strings.Contains(got.Body.String(), "Mutation") != on {
			t.Errorf("introspection=%t: %s", on, got.Body)
		}
		got := ask(t, handler, post(mistyped, nil))
		if strings.Contains(got.Body.String(), `Did you mean \"obtainServiceToken\"`) != on || got.code() != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("hints=%t: %s", on, got.Body)
		}
		if got := ask(t, handler, post(misused, nil)); got.code() != "GRAPHQL_VALIDATION_FAILED" {
			t.Errorf("key as a field's name: %s", got.Body)
		}
	}
}

// TestSourceIsThePeerUnlessConfigured sends a header that names another source.
// If it were trusted from any peer, an attacker could appear as a new source with
// each guess.
func TestSourceIsThePeerUnlessConfigured(t *testing.T) {
	for _, configured := range []bool{true, false} {
		issuer := &stubIssuer{}
		options, want := graphql.Options{}, "192.0.2.1"
		if configured {
			options.Source, want = func(r *http.Request) string { return r.Header.Get("X-Forwarded-For") }, "198.51.100.7"
		}
		request := post(login, map[string]any{"key": "x"})
		request.Header.Set("X-Forwarded-For", "198.51.100.7")
		ask(t, graphql.New(issuer, options), request)
		if issuer.source != want {
			t.Errorf("the source is %q, want %q", issuer.source, want)
		}
	}
}

// TestQueryByGet sends a query without a body, as probes and browsers do.
func TestQueryByGet(t *testing.T) {
	request := httptest.NewRequest(http.MethodGet, "/v1/graphql/?query="+url.QueryEscape("{ service }"), nil)
	got := ask(t, graphql.New(&stubIssuer{}, graphql.Options{}), request)
	if got.Code != http.StatusOK || string(got.Data["service"]) != `"landfall"` {
		t.Errorf("%d %s", got.Code, got.Body)
	}
}
