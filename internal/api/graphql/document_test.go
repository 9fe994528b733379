package graphql

import (
	"net/http"
	"slices"
	"testing"
)

func TestScanDocument(t *testing.T) {
	cases := []struct {
		text  string
		kinds []string
		mints int
	}{
		{`{ service }`, []string{"query"}, 0},
		{`query { service }`, []string{"query"}, 0},
		{`mutation { obtainServiceToken { token } }`, []string{"mutation"}, 1},
		{`mutation ObtainServiceToken { ObtainServiceToken { token } }`, []string{"mutation"}, 1},
		{`mutation M($i: In = {apiKey: "{"}) @d(a: {b: 1}) { a: obtainServiceToken(input: $i) { token } }`, []string{"mutation"}, 1},
		{`mutation ($obtainServiceToken: In) { obtainServiceToken: ObtainServiceToken(input: $obtainServiceToken) { token } }`, []string{"mutation"}, 1},
		{`# mutation {` + "\n" + `{ service }`, []string{"query"}, 0},
		{`# mutation {` + "\r" + `{ service }`, []string{"query"}, 0},
		{`{ a(b: "} mutation {") }`, []string{"query"}, 0},
		{`{ a(b: """ "} mutation { "" """) } mutation B { c }`, []string{"query", "mutation"}, 0},
		{`fragment mutation on Query { service } query Q { ...mutation }`, []string{"query"}, 0},
		{`query mutation { service }`, []string{"query"}, 0},
		{`query A { a } mutation B { b } subscription C { c }`, []string{"query", "mutation", "subscription"}, 0},
		{"\ufeff,,{ service }", []string{"query"}, 0},
		{``, nil, 0},
		{`}}}}`, nil, 0},
		{`"`, nil, 0},
	}
	for _, c := range cases {
		found, broken := scanDocument(c.text, defaultLimits)
		var kinds []string
		for _, op := range found.operations {
			kinds = append(kinds, op.kind)
		}
		if broken != "" || !slices.Equal(kinds, c.kinds) || found.tokenFields != c.mints {
			t.Errorf("%s: %v, %d, %q", c.text, found.operations, found.tokenFields, broken)
		}
	}
	named, _ := scanDocument(`query A { a } mutation mutation { b }`, defaultLimits)
	for name, want := range map[string]string{"A": "query", "mutation": "mutation", "": "", "C": ""} {
		if got := named.operationKind(name); got != want {
			t.Errorf("operation %q is a %q, want %q", name, got, want)
		}
	}
}

func TestNegotiate(t *testing.T) {
	for accept, want := range map[string]string{
		"":                                  jsonType,
		"*/*":                               jsonType,
		"application/*":                     jsonType,
		"application/json":                  jsonType,
		"application/json; charset=utf-8":   jsonType,
		"application/graphql-response+json": responseType,
		"application/graphql-response+json, application/json;q=0.9":   responseType,
		"application/json, application/graphql-response+json":         responseType,
		"application/graphql-response+json;q=0.5, application/json":   jsonType,
		"application/graphql-response+json; charset=utf-8, */*;q=0.1": responseType,
		"application/graphql-response+json;q=0, application/json;q=0": "",
		"application/graphql-response+json;q=0, */*":                  jsonType,
		"text/html":                              "",
		"text/html, */*;q=0.8":                   jsonType,
		"application/json;q=oops":                "",
		";;;, application/graphql-response+json": responseType,
	} {
		header := http.Header{}
		if accept != "" {
			header.Set("Accept", accept)
		}
		if got := negotiate(header); got != want {
			t.Errorf("%q gives %q, want %q", accept, got, want)
		}
	}
}
