package httpapi

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// sendRaw sends raw bytes and returns everything that comes back until the server
// closes the connection or goes quiet.
func (h *testAPI) sendRaw(raw string) string {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
	if err != nil {
		h.t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, raw); err != nil {
		h.t.Fatal(err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(soon))
	first := make([]byte, 4<<10)
	n, _ := conn.Read(first)
	_ = conn.SetReadDeadline(time.Now().Add(500 * time.Millisecond))
	rest, _ := io.ReadAll(conn)
	return string(first[:n]) + string(rest)
}

func statusOf(said string) string {
	line, _, _ := strings.Cut(said, "\r\n")
	_, line, _ = strings.Cut(line, " ")
	status, _, _ := strings.Cut(line, " ")
	return status
}

// A hostile or careless client gets at most one response, and it is an error in
// the format of the API or the 400 of net/http.
func TestRawRequests(t *testing.T) {
	h := newTestAPI(t)
	token := "Authorization: Token " + h.tokens["importer"] + "\r\n"
	post := "POST " + validatePath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" + token
	body := accountJSON("OURS", "1")
	hidden := "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
	chunked := fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(body), body)
	length := fmt.Sprintf("Content-Length: %d\r\n", len(body))
	get := func(path string) string {
		return "GET " + path + " HTTP/1.1\r\nHost: x\r\n" + token + "Connection: close\r\n\r\n"
	}
	status := importPath + "/account-transfer-status/OURS/"

	for _, c := range []struct {
		name, raw string
		statuses  string // any of these
		form      bool   // the response has the error format of the API
	}{
		{"length and chunks", post + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked + hidden, "200 400", false},
		{"two lengths", post + length + "Content-Length: 4\r\n\r\n" + body + hidden, "400", false},
		{"spaced chunk header", post + "Transfer-Encoding : chunked\r\n\r\n" + chunked + hidden, "400", false},
		{"unknown transfer coding", post + "Transfer-Encoding: xchunked\r\n\r\n" + chunked + hidden, "400 501", false},
		{"plain chunks", post + "Transfer-Encoding: chunked\r\n\r\n" + chunked + hidden, "200", false},
		{"broken chunks", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n" + hidden, "400", true},
		{"body cut short", post + "Content-Length: 900\r\nConnection: close\r\n\r\n{", "400", true},

		{"broken escape", get(status + "%ZZ/"), "400 404", false},
		{"nul in the path", get(status + "%00/"), "404", true},
		{"no UTF-8 in the path", get(status + "%FF/"), "404", true},
		{"dots in the path", get(status + "../THEIRS/1/"), "404", true},
		{"dot in the path", get(status + "./"), "404", true},
		{"two slashes", get(importPath + "//rules/"), "404", true},
		{"backslashes", get(status + `..\..\x/`), "404", true},
		{"another host", "GET http://evil.example" + importPath + "/nowhere/ HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n", "404", true},
		{"options of everything", "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "200 404", false},
		{"too large, asked first", post + "Content-Length: 99999999\r\nExpect: 100-continue\r\n\r\n", "413", true},
		{"no token, asked first", "POST " + validatePath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
			"Content-Length: 99\r\nExpect: 100-continue\r\n\r\n", "401", true},
		{"headers without end", "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: " + strings.Repeat("a", 2<<20), "431", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if strings.Contains(c.name, "cut short") {
				h.cutShort(t, c.raw)
				return
			}
			said := h.sendRaw(c.raw)
			if !strings.Contains(c.statuses, statusOf(said)) || statusOf(said) == "" {
				t.Fatalf("got %.200q, want %s", said, c.statuses)
			}
			if n := strings.Count(said, "HTTP/1.1 "); n != 1 {
				t.Errorf("%d answers to one request: %.400q", n, said)
			}
			if strings.Contains(said, "100 Continue") {
				t.Error("the client was asked to send a body that is refused")
			}
			if c.form {
				_, body, _ := strings.Cut(said, "\r\n\r\n")
				if (reply{body: body}).code() == "not the error form" {
					t.Errorf("not the error form: %.300q", said)
				}
			}
		})
	}
}

// cutShort sends a body that ends before its declared length.
func (h *testAPI) cutShort(t *testing.T, raw string) {
	conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, raw)
	_ = conn.(*net.TCPConn).CloseWrite()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body)
	if code := (reply{body: string(body)}).code(); response.StatusCode != http.StatusBadRequest || code != "malformed_json" {
		t.Errorf("got %d %s", response.StatusCode, code)
	}
}

// A bulk request whose body cannot be decompressed is answered before the body
// was read. The next request on the same connection must not be affected.
func TestBulkThatEndsEarlyKeepsItsConnection(t *testing.T) {
	h := newTestAPI(t)
	conn, err := net.Dial("tcp", h.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	body := strings.Repeat("this is not packed\n", 1000)
	answers := bufio.NewReader(conn)
	for number := range 5 {
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nContent-Encoding: gzip\r\n"+
			"Authorization: Token %s\r\nContent-Length: %d\r\n\r\n%s", inBulkPath(stagePath), h.tokens["importer"], len(body), body)
		response, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatalf("request %d was not answered: %v", number, err)
		}
		said, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || response.StatusCode != http.StatusOK || !strings.Contains(string(said), "malformed_json") {
			t.Fatalf("request %d: %d %s %v", number, response.StatusCode, said, err)
		}
	}
}

// TestChunkedRequestEndsItsConnection sends a body of unknown length. The
// server closes the connection after the response, so that nothing after it is
// read as another request.
func TestChunkedRequestEndsItsConnection(t *testing.T) {
	h := newTestAPI(t)
	got := h.call("importer", "POST", validatePath, accountJSON("OURS", "1"), func(r *http.Request) { r.ContentLength = -1 })
	if got.status != 200 || !got.closes {
		t.Errorf("got %d, closes: %v", got.status, got.closes)
	}
}

// TestMissingSlash omits the trailing slash. A redirect to another path, or
// without the query, would return something other than what was requested.
func TestMissingSlash(t *testing.T) {
	h := newTestAPI(t)
	for path, want := range map[string]string{
		strings.TrimSuffix(allPath, "/") + "?limit=2":          allPath + "?limit=2",
		importPath + "/account-transfer-status/OURS/a%2Fb%20c": importPath + "/account-transfer-status/OURS/a%2Fb%20c/",
		"/docs": "/docs/",
	} {
		got := h.call("", "GET", path, "")
		if got.status != 308 || got.header.Get("Location") != want {
			t.Errorf("%s: got %d to %q", path, got.status, got.header.Get("Location"))
		}
	}
	if got := h.call("", "POST", strings.TrimSuffix(stagePath, "/"), "{}"); got.status != 308 {
		t.Errorf("post: got %d", got.status)
	}
	for _, path := range []string{"/v1", "/v1/data-import", "/nowhere", "//docs", importPath + "/rules/x"} {
		if got := h.call("", "GET", path, ""); got.status != 404 || got.code() != "not_found" {
			t.Errorf("%s: got %d %s", path, got.status, got.body)
		}
	}
}

// TestMethods tries methods that a path does not have. A header that names
// another method must not override it, because a proxy in front would not
// notice.
func TestMethods(t *testing.T) {
	h := newTestAPI(t)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE", "PATCH", "BREW"} {
		got := h.call("importer", method, validatePath, "", func(r *http.Request) {
			r.Header.Set("X-Http-Method-Override", "POST")
		})
		if got.status != 405 || got.header.Get("Allow") != "POST" {
			t.Errorf("%s: got %d, Allow %q", method, got.status, got.header.Get("Allow"))
		}
		if method != "HEAD" && got.code() != "method_not_allowed" {
			t.Errorf("%s: %s", method, got.body)
		}
	}
}

// The checks run in the order of the contract: a request that fails one learns
// nothing from later ones.
func TestOrderOfChecks(t *testing.T) {
	h := newTestAPI(t, func(o *Options) { o.BodyLimit = 1000 })
	plain := func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }
	large := strings.Repeat("x", 2000)
	for _, c := range []struct {
		name, who, method, path, body string
		adjust                        func(*http.Request)
		status                        int
		code                          string
	}{
		{"path before token", "", "GET", "/v1/nothing/", "", nil, 404, "not_found"},
		{"method before token", "", "DELETE", stagePath, "", nil, 405, "method_not_allowed"},
		{"token before role and media", "", "POST", stagePath, large, plain, 401, "not_authenticated"},
		{"role before media", "viewer", "POST", stagePath, large, plain, 403, "permission_denied"},
		{"media before size", "importer", "POST", stagePath, large, plain, 415, "unsupported_media_type"},
		{"size before JSON", "importer", "POST", stagePath, large, nil, 413, "payload_too_large"},
		{"JSON before shape", "importer", "POST", stagePath, `{"x":1`, nil, 400, "malformed_json"},
		{"shape with supplier", "importer", "POST", stagePath, `{"import_supplier":"THEIRS","x":1}`, nil, 400, "account_failed_validation"},
	} {
		t.Run(c.name, func(t *testing.T) {
			adjust := c.adjust
			if adjust == nil {
				adjust = func(*http.Request) {}
			}
			got := h.call(c.who, c.method, c.path, c.body, adjust)
			if got.status != c.status || got.code() != c.code {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, c.status, c.code)
			}
			if (c.status == 401) != (got.header.Get("WWW-Authenticate") == "Token") {
				t.Errorf("WWW-Authenticate is %q", got.header.Get("WWW-Authenticate"))
			}
		})
	}
}

// TestBodies sends invalid bodies. Each is refused before its content is used.
func TestBodies(t *testing.T) {
	h := newTestAPI(t, func(o *Options) { o.BodyLimit = 4096 })
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	set := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	good := accountJSON("OURS", "1")
	padded := func(n int) string { return good + strings.Repeat(" ", n-len(good)) }
	for _, c := range []struct {
		name, body string
		adjust     func(*http.Request)
		status     int
		code       string
	}{
		{"null", "null", nil, 400, "malformed_json"},
		{"array", "[]", nil, 400, "malformed_json"},
		{"text", `"x"`, nil, 400, "malformed_json"},
		{"empty", "", set("Content-Type", "application/json"), 400, "malformed_json"},
		{"two objects", good + good, nil, 400, "malformed_json"},
		{"garbage behind", good + "x", nil, 400, "malformed_json"},
		{"at the limit", padded(4096), nil, 200, ""},
		{"over the limit", padded(4097), nil, 413, "payload_too_large"},
		{"at the limit in chunks", padded(4096), chunked, 200, ""},
		{"over the limit in chunks", padded(4097), chunked, 413, "payload_too_large"},
		{"compressed", good, set("Content-Encoding", "gzip"), 415, "unsupported_media_type"},
		{"identity", good, set("Content-Encoding", "identity"), 200, ""},
		{"no type", good, func(r *http.Request) { r.Header.Del("Content-Type") }, 415, "unsupported_media_type"},
		{"another charset", good, set("Content-Type", "application/json; charset=utf-16"), 415, "unsupported_media_type"},
		{"upper-case charset", good, set("Content-Type", "application/json; charset=UTF-8"), 200, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			adjust := c.adjust
			if adjust == nil {
				adjust = func(*http.Request) {}
			}
			got := h.call("importer", "POST", validatePath, c.body, adjust)
			if got.status != c.status || c.code != "" && got.code() != c.code {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, c.status, c.code)
			}
			if c.status == 200 && got.body != c.body {
				t.Errorf("the answer is not what was sent: %q", got.body)
			}
		})
	}
}

// TestHeaders checks the headers of every response. A response that a cache
// stores, or that a browser treats as a page, would show one caller's data to
// another.
func TestHeaders(t *testing.T) {
	h := newTestAPI(t)
	for _, path := range []string{"/healthz", "/nowhere", allPath, importPath + "/rules/"} {
		got := h.call("importer", "GET", path, "", func(r *http.Request) { r.Header.Set("X-Request-ID", "mine.1-2_3") })
		if got.header.Get("X-Request-ID") != "mine.1-2_3" || got.header.Get("X-Content-Type-Options") != "nosniff" ||
			got.header.Get("Cache-Control") != "no-store" || got.header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: %v", path, got.header)
		}
	}
	got := h.call("importer", "GET", "/healthz", "", func(r *http.Request) { r.Header.Set("X-Request-ID", "no good") })
	if id := got.header.Get("X-Request-ID"); !validID(id) || len(id) != 16 {
		t.Errorf("id %q", id)
	}
}
