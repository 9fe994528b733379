package console

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/test/dbtest"
)

func TestInvitation(t *testing.T) {
	h := newTestConsole(t)
	link, err := h.operator().CreateOperator(t.Context(), "ada", landfall.ConsoleAdministrator)
	if err != nil {
		t.Fatal(err)
	}
	ada, welcome := h.anonymous(), "/console/welcome/"+link.Reveal()+"/"
	ada.wantPage(welcome, "Welcome, ada")
	for _, wrong := range []url.Values{
		{"password": {testPassword}, "again": {"something else"}},
		{"password": {"short"}, "again": {"short"}},
	} {
		if status, body := ada.post(welcome, wrong); status != http.StatusBadRequest || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%v: %d\n%s", wrong, status, body)
		}
	}
	if status, body := ada.post(welcome, url.Values{"password": {testPassword}, "again": {testPassword}}); status != http.StatusOK || !strings.Contains(body, "Suppliers") {
		t.Fatalf("%d\n%s", status, body)
	}
	if status, _ := h.anonymous().get(welcome); status != http.StatusNotFound {
		t.Errorf("the link works twice: %d", status)
	}
	ada.wantPage("/console/me/", "ada", "Change password")
	if status, body := ada.post("/console/sign-out/", nil); status != http.StatusOK || !strings.Contains(body, "You are signed out.") {
		t.Errorf("signing out: %d\n%s", status, body)
	}
	ada.wantPage("/console/", "Sign in", `name="password"`)
	wrong := url.Values{"name": {"ada"}, "password": {"not the one"}}
	if status, body := ada.post("/console/sign-in/", wrong); status != http.StatusUnauthorized || !strings.Contains(body, "not right") || !strings.Contains(body, `value="ada"`) {
		t.Errorf("a wrong password: %d\n%s", status, body)
	}
	if status, body := ada.post("/console/sign-in/", url.Values{"name": {"ada"}, "password": {testPassword}, "to": {"/console/me/"}}); status != http.StatusOK || !strings.Contains(body, "This session") {
		t.Errorf("%d\n%s", status, body)
	}
}

// fillPath replaces every parameter of a path.
func fillPath(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i] = "X"
		}
	}
	return strings.Join(parts, "/")
}

func TestPagesRequireSignIn(t *testing.T) {
	h := newTestConsole(t)
	for _, page := range routes() {
		if page.public || page.method == http.MethodPost {
			continue
		}
		client := h.anonymous().client
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		answer, err := client.Get(h.server.URL + Root + fillPath(page.path))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusSeeOther || !strings.HasPrefix(answer.Header.Get("Location"), "/console/sign-in/") {
			t.Errorf("%s: %d to %s", page.path, answer.StatusCode, answer.Header.Get("Location"))
		}
	}
}

func TestSecurityHeaders(t *testing.T) {
	h := newTestConsole(t)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/console/sign-out/", nil)
	request.Header.Set("Sec-Fetch-Site", "cross-site")
	request.Header.Set("Origin", "https://evil.example")
	if status, body := ada.read(ada.client.Do(request)); status != http.StatusForbidden {
		t.Errorf("a form of another site: %d\n%s", status, body)
	}
	ada.wantPage("/console/me/", "This session")
	answer, err := ada.client.Get(h.server.URL + "/console/")
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	for name, want := range map[string]string{
		"Content-Security-Policy": "frame-ancestors 'none'", "X-Frame-Options": "DENY", "Cache-Control": "no-store", "Referrer-Policy": "no-referrer",
	} {
		if got := answer.Header.Get(name); !strings.Contains(got, want) || strings.Contains(got, "unsafe") {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A sign-in link must not lead to another site.
func TestLocalPath(t *testing.T) {
	for to, want := range map[string]string{
		"/console/runs/R-1/": "/console/runs/R-1/", "https://evil.example/": Root, "//evil.example/console/": Root,
		"/console/\\evil": Root, "/console/..//evil.example/": Root, "/console//evil.example": Root, "/v1/": Root, "": Root, "/console/sign-out/": Root,
	} {
		if got := localPath(to); got != want {
			t.Errorf("%q leads to %q, want %q", to, got, want)
		}
	}
}

// Without TLS only the machine itself can use the console, under its own name.
func TestPlainHTTPIsLocalOnly(t *testing.T) {
	h := newTestConsole(t)
	for host, want := range map[string]int{"console.example.com": http.StatusForbidden, "localhost": http.StatusOK} {
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, h.server.URL+"/console/sign-in/", nil)
		request.Host = host
		if status, body := h.anonymous().read(http.DefaultClient.Do(request)); status != want {
			t.Errorf("as %s: %d\n%s", host, status, body)
		}
	}
	h.console.BaseURL = "https://console.example.com"
	request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+"/console/theme/", strings.NewReader("theme=dark"))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if cookie := answer.Header.Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "Secure") || !strings.Contains(cookie, "HttpOnly") {
		t.Errorf("cookie by TLS: %q", cookie)
	}
}

// The first visit of a new server leads to its set-up link, which makes one
// administrator and nobody else.
func TestSetUpOfANewServer(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database string) {
		h := testConsoleOn(t, database)
		first := h.anonymous()
		if body := first.wantPage("/console/", "This server is new", "set-up link"); strings.Contains(body, `name="password"`) {
			t.Error("a new server asks for a password")
		}
		offer := func() string {
			link, err := h.console.Sessions.OfferSetUp(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			return SetUpPath(link.Reveal())
		}
		path, other := offer(), offer()
		first.wantPage(path, "Create the first administrator")
		right := url.Values{"name": {"ada"}, "password": {testPassword}, "again": {testPassword}}
		for field, wrong := range map[string]string{"name": "Ada Lovelace", "password": "short", "again": "something else"} {
			form := maps.Clone(right)
			form[field] = []string{wrong}
			if status, body := first.post(path, form); status != http.StatusBadRequest || !strings.Contains(body, `role="alert"`) {
				t.Errorf("%s %q: %d\n%s", field, wrong, status, body)
			}
		}
		if status, body := first.post(path, right); status != http.StatusOK || !strings.Contains(body, "Suppliers") || !strings.Contains(body, "(administrator)") {
			t.Fatalf("%d\n%s", status, body)
		}
		for _, late := range []string{path, other, offer(), SetUpPath("x")} {
			if status, _ := h.anonymous().get(late); status != http.StatusNotFound {
				t.Errorf("%s after the set-up: %d", late, status)
			}
			if status, _ := h.anonymous().post(late, url.Values{"name": {"eve"}, "password": {testPassword}, "again": {testPassword}}); status != http.StatusNotFound {
				t.Errorf("%s was used after the set-up: %d", late, status)
			}
		}
		h.anonymous().wantPage("/console/", `name="password"`)
		first.wantPage("/console/admin/audit/?subject=ada", "by the set-up link", "Role: administrator")
	})
}
