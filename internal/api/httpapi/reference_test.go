package httpapi

import (
	"regexp"
	"strings"
	"testing"
)

// The reference page must load everything from this server and nothing from
// elsewhere.
func TestReferencePage(t *testing.T) {
	h := newTestAPI(t)
	page := h.call("", "GET", "/docs/", "")
	policy := page.header.Get("Content-Security-Policy")
	if page.status != 200 || !strings.Contains(policy, "default-src 'none'; script-src 'self';") || !strings.Contains(policy, "frame-ancestors 'none'") {
		t.Fatalf("got %d with policy %q", page.status, policy)
	}
	asked := regexp.MustCompile(`(?:src|href|spec-url)="([^":]+)"`).FindAllStringSubmatch(page.body, -1)
	if len(asked) < 4 {
		t.Fatalf("the page asks for %v", asked)
	}
	for _, file := range asked {
		path := "/docs/" + file[1]
		if above, is := strings.CutPrefix(file[1], ".."); is {
			path = above
		}
		if got := h.call("", "GET", path, ""); got.status != 200 || got.body == "" || got.header.Get("Content-Type") == "" {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if strings.Contains(page.body, "://") {
		t.Error("the page names another host")
	}
	for _, path := range []string{"/docs/index.html", "/docs/..%2fapi.go", "/docs/%2e%2e", "/docs/nothing.js"} {
		if got := h.call("", "GET", path, ""); got.status != 404 || got.code() != "not_found" {
			t.Errorf("%s: %d %.100s", path, got.status, got.body)
		}
	}
}

// The handbook is served from the program. The names of its pages in the repository, to which alerts link,
// lead to the pages.
func TestHandbookIsServed(t *testing.T) {
	h := newTestAPI(t)
	front := h.call("", "GET", "/docs/handbook/", "")
	policy := front.header.Get("Content-Security-Policy")
	if front.status != 200 || !strings.Contains(front.body, `href="alarms.html"`) || !strings.Contains(policy, "default-src 'none'; script-src 'self'; style-src 'self';") {
		t.Fatalf("got %d with policy %q", front.status, policy)
	}
	for path, kind := range map[string]string{
		"alarms.html": "text/html", "adr-0001-one-sql-text.html": "text/html", "site.css": "text/css", "site.js": "text/javascript", "search-index.js": "text/javascript",
		"example-account.json": "application/json", "flow.svg": "image/svg+xml", "changelog.html": "text/html",
	} {
		if got := h.call("", "GET", "/docs/handbook/"+path, ""); got.status != 200 || got.body == "" || !strings.HasPrefix(got.header.Get("Content-Type"), kind) {
			t.Errorf("%s: %d %s", path, got.status, got.header.Get("Content-Type"))
		}
	}
	if got := h.call("", "GET", "/docs/handbook/alarms.md", ""); got.status != 308 || got.header.Get("Location") != "alarms.html" {
		t.Errorf("got %d to %s", got.status, got.header.Get("Location"))
	}
	for _, path := range []string{"nothing.html", "..%2fhandbook.go", "docs", "nothing.md"} {
		if got := h.call("", "GET", "/docs/handbook/"+path, ""); got.status != 404 || got.code() != "not_found" {
			t.Errorf("%s: %d %.100s", path, got.status, got.body)
		}
	}
}
