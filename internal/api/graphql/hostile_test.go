package graphql_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"landfall/internal/api/graphql"
)

// hostile is a request that must be refused without issuing a token.
type hostile struct {
	method, media, target, body string // the defaults if empty
	status                      int
}

// quoted returns a document as the body of a request.
func quoted(document string) string {
	return fmt.Sprintf(`{"query":%s}`, strings.ReplaceAll(fmt.Sprintf("%q", document), `\x`, `\u00`))
}

const mint = `obtainServiceToken(input: {apiKey: "` + canary + `"}) { token }`

func repeat(n int, format string) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, format, i)
	}
	return text.String()
}

var hostiles = map[string]hostile{
	"mutation by GET":                  {method: "GET", target: "?query=" + url.QueryEscape("mutation { "+mint+" }"), status: 405},
	"mutation by GET, chosen by name":  {method: "GET", target: "?operationName=B&query=" + url.QueryEscape("query A { service } mutation B { "+mint+" }"), status: 405},
	"GET without a query":              {method: "GET", status: 400},
	"GET with the query twice":         {method: "GET", target: "?query=%7Bservice%7D&query=%7Bservice%7D", status: 400},
	"GET with broken escapes":          {method: "GET", target: "?query=%zz", status: 400},
	"GET with broken variables":        {method: "GET", target: "?query=%7Bservice%7D&variables=%7B", status: 400},
	"GET with two values as variables": {method: "GET", target: "?query=%7Bservice%7D&variables=" + url.QueryEscape(`{},"extensions":{}`), status: 400},
	"PUT":                              {method: "PUT", body: quoted("mutation { " + mint + " }"), status: 405},
	"DELETE":                           {method: "DELETE", status: 405},
	"form":                             {media: "application/x-www-form-urlencoded", body: "query=" + url.QueryEscape("mutation { "+mint+" }"), status: 415},
	"plain text":                       {media: "text/plain", body: quoted("mutation { " + mint + " }"), status: 415},
	"multipart":                        {media: "multipart/form-data; boundary=x", body: "--x--", status: 415},
	"graphql as the media type":        {media: "application/graphql", body: "mutation { " + mint + " }", status: 415},
	"another charset":                  {media: "application/json; charset=utf-16", body: quoted("{ service }"), status: 415},
	"key in the query string":          {target: "?apiKey=" + canary, body: quoted("{ service }"), status: 400},
	"document in the query string":     {target: "?query=" + url.QueryEscape("mutation { "+mint+" }"), body: `{}`, status: 400},
	"empty body":                       {body: " ", status: 400},
	"broken JSON":                      {body: `{"query": "mutation { ` + canary, status: 400},
	"bytes behind":                     {body: quoted("{ service }") + "x", status: 400},
	"doubled member":                   {body: `{"query":"{ service }","query":"{ service }"}`, status: 400},
	"unknown member":                   {body: `{"query":"{ service }","` + canary + `":1}`, status: 400},
	"array batch":                      {body: "[" + quoted("{ service }") + "," + quoted("{ service }") + "]", status: 400},
	"batch of one":                     {body: "[" + quoted("mutation { "+mint+" }") + "]", status: 400},
	"document is a number":             {body: `{"query":1}`, status: 400},
	"variables are a list":             {body: `{"query":"{ service }","variables":["` + canary + `"]}`, status: 400},
	"variables are a string":           {body: `{"query":"{ service }","variables":"` + canary + `"}`, status: 400},
	"bad UTF-8":                        {body: "{\"query\":\"\xff\xfe\"}", status: 400},
	"lone surrogate":                   {body: `{"query":"{ service }","operationName":"\ud800"}`, status: 400},
	"NUL in the document":              {body: `{"query":"{ service \u0000 }"}`, status: 400},
	"variables nested deeply":          {body: `{"query":"{ service }","variables":{"a":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`, status: 400},
	"two aliases":                      {body: quoted("mutation { a: " + mint + " b: " + mint + " }"), status: 400},
	"100 aliases":                      {body: quoted("mutation { " + repeat(100, "a%d: obtainServiceToken(input: {apiKey: \"x\"}) { token } ") + "}"), status: 400},
	"both spellings":                   {body: quoted("mutation { " + mint + " " + strings.Replace(mint, "o", "O", 1) + " }"), status: 400},
	"two through fragments":            {body: quoted("mutation { ...F ...G } fragment F on Mutation { a: " + mint + " } fragment G on Mutation { b: " + mint + " }"), status: 400},
	"100 fragments in a ring":          {body: quoted("{ ...F0 } " + repeat(99, "fragment F%[1]d on Query { ...F%[1]d } ") + "fragment F99 on Query { ...F0 }"), status: 400},
	"depth 50":                         {body: quoted(strings.Repeat("{ a ", 50) + strings.Repeat("}", 50)), status: 400},
	"depth 50 in a value":              {body: quoted("mutation { obtainServiceToken(input: " + strings.Repeat("[", 50) + strings.Repeat("]", 50) + ") { token } }"), status: 400},
	"1 MB of comments":                 {body: quoted("{ service } " + strings.Repeat("# comment\n", 100_000)), status: 413},
	"60 kB of comments":                {body: quoted("{ service } " + strings.Repeat("# comment\n", 5_000)), status: 400},
	"1,000 directives":                 {body: quoted("{ service " + strings.Repeat("@a ", 1000) + "}"), status: 400},
	"1,000 variables":                  {body: quoted("query (" + repeat(1000, "$a%d: Int ") + ") { service }"), status: 400},
	"subscription":                     {body: quoted("subscription { " + mint + " }"), status: 400},
}

func TestHostileRequests(t *testing.T) {
	if len(hostiles) < 25 {
		t.Fatalf("only %d hostile requests", len(hostiles))
	}
	for name, h := range hostiles {
		t.Run(name, func(t *testing.T) {
			issuer := &stubIssuer{}
			got := ask(t, graphql.New(issuer, graphql.Options{}), h.request())
			if got.Code != h.status || len(got.Errors) == 0 || got.Data != nil {
				t.Errorf("%d %s, want %d", got.Code, got.Body, h.status)
			}
			if len(issuer.keys) > 0 {
				t.Error("the issuer was asked")
			}
			if got.Code == http.StatusMethodNotAllowed && got.Header().Get("Allow") == "" {
				t.Error("405 without Allow")
			}
		})
	}
}

func (h hostile) request() *http.Request {
	if h.method == "" {
		h.method = http.MethodPost
	}
	if h.media == "" {
		h.media = "application/json"
	}
	request := httptest.NewRequest(h.method, "/v1/graphql/"+h.target, strings.NewReader(h.body))
	request.Header.Set("Content-Type", h.media)
	return request
}

// A well-formed document that does not match the schema is refused with 200 as
// plain JSON and with 400 in the GraphQL response media type. The refusal repeats
// nothing.
func TestUnsupportedDocuments(t *testing.T) {
	documents := map[string]string{
		"empty":                   `{"query":""}`,
		"syntax":                  quoted(`mutation { obtainServiceToken(input: {apiKey: "` + canary + `"`),
		"open string":             quoted(`mutation { obtainServiceToken(input: {apiKey: "` + canary),
		"open block string":       quoted(`mutation { obtainServiceToken(input: {apiKey: """` + canary),
		"bad escape":              quoted(`mutation { obtainServiceToken(input: {apiKey: "\q` + canary + `"}) { token } }`),
		"key as a name":           quoted("{ " + canary + " }"),
		"key as an unknown input": quoted(`mutation { obtainServiceToken(input: {` + canary + `: "x"}) { token } }`),
		"key as an enum":          quoted(`mutation { obtainServiceToken(input: {apiKey: ` + canary + `}) { token } }`),
		"key as the whole input":  quoted(`mutation { obtainServiceToken(input: "` + canary + `") { token } }`),
		"key and an unknown one":  quoted(`mutation { obtainServiceToken(input: {apiKey: "` + canary + `", other: 1}) { token } }`),
		"input missing":           quoted(`mutation { obtainServiceToken { token } }`),
		"no selection":            quoted(`mutation { obtainServiceToken(input: {apiKey: "` + canary + `"}) }`),
		"operation not there":     `{"query":"query A { service }","operationName":"` + canary + `"}`,
		"two anonymous":           quoted("{ service } { service }"),
		"fragment only":           quoted("fragment F on Query { service }"),
		"small ring":              quoted("{ ...F } fragment F on Query { ...G } fragment G on Query { ...F }"),
		"unknown directive":       quoted("{ service @" + canary + " }"),
		"variable of wrong type":  `{"query":"mutation ($k: String) { obtainServiceToken(input: {apiKey: $k}) { token } }","variables":{"k":["` + canary + `"]}}`,
		"variable is an object":   `{"query":"mutation ($k: String) { obtainServiceToken(input: {apiKey: $k}) { token } }","variables":{"k":{"a":"` + canary + `"}}}`,
		"input of wrong type":     `{"query":"mutation ($i: ObtainServiceTokenInput!) { obtainServiceToken(input: $i) { token } }","variables":{"i":"` + canary + `"}}`,
		"input with another key":  `{"query":"mutation ($i: ObtainServiceTokenInput!) { obtainServiceToken(input: $i) { token } }","variables":{"i":{"` + canary + `":"a"}}}`,
		"input is null":           `{"query":"mutation ($i: ObtainServiceTokenInput!) { obtainServiceToken(input: $i) { token } }","variables":{"i":null}}`,
		"schema definition":       quoted("type Query { a: Int }"),
	}
	for name, body := range documents {
		for accept, status := range map[string]int{"application/json": 200, "application/graphql-response+json": 400} {
			for _, introspection := range []bool{true, false} {
				issuer := &stubIssuer{}
				request := hostile{body: body}.request()
				request.Header.Set("Accept", accept)
				got := ask(t, graphql.New(issuer, graphql.Options{Introspection: introspection}), request)
				if got.Code != status || len(got.Errors) == 0 || got.Data != nil || len(issuer.keys) > 0 {
					t.Errorf("%s as %s: %d %s, asked %d times", name, accept, got.Code, got.Body, len(issuer.keys))
				}
			}
		}
	}
}

// For any input, the handler answers with JSON, calls the issuer at most once and
// repeats no key; ask checks the form of the answer.
func FuzzHandler(f *testing.F) {
	f.Add("POST", "application/json", quoted(login), false)
	f.Add("POST", "application/json", login, true)
	f.Add("GET", "", "{ service }", true)
	for _, h := range hostiles {
		if len(h.body) < 10_000 {
			r := h.request()
			f.Add(r.Method, r.Header.Get("Content-Type"), h.body, false)
		}
	}
	issuer := &stubIssuer{}
	handler := graphql.New(issuer, graphql.Options{})
	f.Fuzz(func(t *testing.T, method, media, body string, document bool) {
		issuer.keys = nil
		target := "/v1/graphql/"
		if document {
			target += "?query=" + url.QueryEscape(body)
			if method != http.MethodGet {
				target, body = "/v1/graphql/", quoted(body)
			}
		}
		request := httptest.NewRequest(http.MethodPost, target, strings.NewReader(body))
		request.Method = method
		request.Header.Set("Content-Type", media)
		got := ask(t, handler, request)
		if len(issuer.keys) > 1 || len(issuer.keys) == 1 && method != http.MethodPost {
			t.Fatalf("the issuer was asked %d times by %s", len(issuer.keys), method)
		}
		if got.Code >= 500 {
			t.Fatalf("%d %s", got.Code, got.Body)
		}
	})
}
