package httpapi

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

func TestFind(t *testing.T) {
	var tree node
	for _, r := range routeTable() {
		tree.add(r.path, r)
	}
	const status = importPath + "/account-transfer-status/{import_supplier_code}/{external_account_number}/"
	for _, c := range []struct {
		path     string
		template string // "" when there is none
		external string
		unended  bool
	}{
		{importPath + "/account-transfer-status/S/A1/", status, "A1", false},
		{importPath + "/account-transfer-status/S/A%2FB/", status, "A/B", false},
		{importPath + "/account-transfer-status/S/A%252FB/", status, "A%2FB", false},
		{importPath + "/account-transfer-status/S/A%20B/", status, "A B", false},
		{importPath + "/account-transfer-status/S/A+B;c=1/", status, "A+B;c=1", false},
		{importPath + "/account-transfer-status/S/%2e%2e/", status, "..", false},
		{importPath + "/account-transfer-status/S/a.b/", status, "a.b", false},
		{importPath + "/account-transfer-status/S/%3F%23/", status, "?#", false},
		{importPath + "/account-transfer-status/S/%C3%A9/", status, "é", false},
		{importPath + `/account-transfer-status/S/"a%2Fb"/`, status, `"a/b"`, false},
		{importPath + "/account-transfer-status/S/A1", status, "A1", true},
		{"/healthz", "/healthz", "", false},
		{"/docs", "/docs/", "", true},
		{"/docs/page.css", "/docs/{file}", "", false},
		{"/", "/", "", false},

		{"", "", "", false},
		{"//", "", "", false},
		{"*", "", "", false},
		{"/healthz/", "", "", false},
		{"/v1/", "", "", false},
		{"/V1/data-import/validate-account/", "", "", false},
		{"/v1/data%2Dimport/validate-account/", "", "", false},
		{"/v1//data-import/validate-account/", "", "", false},
		{importPath + "/validate-account//", "", "", false},
		{importPath + "/./validate-account/", "", "", false},
		{importPath + "/account-transfer-status/S/../", "", "", false},
		{importPath + "/account-transfer-status/S/./", "", "", false},
		{importPath + "/account-transfer-status/S/../T/A/", "", "", false},
		{importPath + "/account-transfer-status/S//", "", "", false},
		{importPath + "/account-transfer-status/S/A/B/", "", "", false},
		{importPath + "/account-transfer-status/S/%00/", "", "", false},
		{importPath + "/account-transfer-status/S/%FF/", "", "", false},
		{importPath + "/account-transfer-status/S/%ZZ/", "", "", false},
		{importPath + "/account-transfer-status/S/%2/", "", "", false},
	} {
		found := tree.find(c.path)
		template := ""
		if len(found.routes) > 0 {
			template = found.routes[0].path
		}
		if template != c.template || found.missingSlash != c.unended && template != "" {
			t.Errorf("%s: found %q, unended %v", c.path, template, found.missingSlash)
		}
		if c.external != "" && found.params[1] != c.external {
			t.Errorf("%s: read %q, want %q", c.path, found.params[1], c.external)
		}
	}
}

func TestTarget(t *testing.T) {
	for uri, want := range map[string][2]string{
		"/a/b/?x=1":              {"/a/b/", "x=1"},
		"/a/?x=?":                {"/a/", "x=?"},
		"http://host/a/%2F/?x=1": {"/a/%2F/", "x=1"},
		"http://host":            {"host", ""}, // no path, so no route matches
	} {
		request := httptest.NewRequest(http.MethodGet, "/", nil)
		request.RequestURI = uri
		if path, query := splitTarget(request); path != want[0] || query != want[1] {
			t.Errorf("%s: got %q and %q", uri, path, query)
		}
	}
}

func TestEveryParameterIsExplained(t *testing.T) {
	for _, r := range routeTable() {
		names := placeholder.FindAllStringSubmatch(r.path, -1)
		if len(names) > maxParams {
			t.Errorf("%s has more parameters than a match holds", r.path)
		}
		for _, name := range names {
			if r.doc != nil && pathParameters[name[1]].description == "" {
				t.Errorf("%s: %s is not explained", r.path, name[1])
			}
		}
	}
}

func TestRequestID(t *testing.T) {
	for _, id := range []string{"a", "A-b_c.9", "0123456789012345678901234567890123456789012345678901234567890123"} {
		if got := requestID([]string{id}); got != id {
			t.Errorf("%q was not kept", id)
		}
	}
	for _, sent := range [][]string{nil, {""}, {"a b"}, {"a\r\nb"}, {"é"}, {"a", "b"},
		{"01234567890123456789012345678901234567890123456789012345678901234"}} {
		if got := requestID(sent); len(got) != 16 || !validID(got) {
			t.Errorf("%q gave %q", sent, got)
		}
	}
}

func TestMediaType(t *testing.T) {
	for _, good := range []string{"application/json", "application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\""} {
		if !isJSON(good) {
			t.Errorf("%s was refused", good)
		}
	}
	for _, bad := range []string{"", "text/plain", "application/problem+json", "application/json; charset=utf-16",
		"application/json; profile=x", "application/json, text/plain", "multipart/form-data; boundary=x",
		"application/x-www-form-urlencoded", "application/json; charset=utf-8; x=y"} {
		if isJSON(bad) {
			t.Errorf("%s was accepted", bad)
		}
	}
}
