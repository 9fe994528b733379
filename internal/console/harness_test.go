package console

import (
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/lib/limits"
	"landfall/internal/outbound/delivery"
	"landfall/internal/outbound/shape"
	"landfall/internal/outbound/target"
	"landfall/internal/outbound/webhook"
	"landfall/internal/service/auth"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// testConsole is a console with its own store, served on loopback.
type testConsole struct {
	t       testing.TB
	store   landfall.Store
	console *Console
	server  *httptest.Server
	sender  *webhook.Sender
}

// newTestConsole opens a console over a fresh SQLite database.
func newTestConsole(t testing.TB) *testConsole {
	t.Helper()
	return testConsoleOn(t, dbtest.SQLite(t))
}

// testConsoleOn opens a console over a fresh database of any kind.
func testConsoleOn(t testing.TB, url string) *testConsole {
	t.Helper()
	store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{
		Server: true, ApplySchema: true, SearchTerms: contract.SearchTerms,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return testConsoleOver(t, store)
}

// testConsoleOver serves a console over a store.
func testConsoleOver(t testing.TB, store landfall.Store) *testConsole {
	t.Helper()
	keys, err := delivery.ReadKeys(strings.Repeat("a key for these tests ", 3))
	if err != nil {
		t.Fatal(err)
	}
	h := &testConsole{t: t, store: store, sender: webhook.NewSender(webhook.SenderOptions{
		ClientOptions: delivery.ClientOptions{Keys: keys, PlainHTTP: true, Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
		Encode:        func(event landfall.Event, _ []byte) (string, []byte) { return contract.EventID(event), []byte("{}") },
	})}
	t.Cleanup(h.sender.Close)
	targets := target.NewSender(target.SenderOptions{
		ClientOptions: h.sender.ClientOptions, Encode: contract.EncodeDelivery, Shapes: shape.NewPool(shape.Self),
	})
	t.Cleanup(targets.Close)
	h.console = New(Options{
		OperatorFor: func(actor string) *operate.Operator {
			return operate.New(store, operate.Options{Actor: actor, Rules: contract.RuleCodes(), Sender: h.sender, Targets: targets, Verifier: fakeVendor{}})
		},
		Intake:   intake.New(store, intake.Options{}),
		Sessions: auth.NewSessions(store, auth.SessionOptions{}),
	})
	h.console.countWait = limits.ConsolePage // for slow machines
	h.server = httptest.NewServer(h.console)
	t.Cleanup(h.server.Close)
	return h
}

// operator returns the operator's actions, as on the command line.
func (h *testConsole) operator() *operate.Operator { return h.console.OperatorFor("operator:test") }

// testUser is a browser.
type testUser struct {
	*testConsole
	client *http.Client
}

// anonymous returns a browser without a session.
func (h *testConsole) anonymous() *testUser {
	jar, _ := cookiejar.New(nil)
	return &testUser{h, &http.Client{Jar: jar}}
}

const testPassword = "correct horse battery staple"

// signedIn returns the browser of a user who accepted an invitation.
func (h *testConsole) signedIn(role landfall.OperatorRole) *testUser {
	h.t.Helper()
	name := "ada"
	if role == landfall.ConsoleSupport {
		name = "sam"
	}
	return h.signedInAs(name, role)
}

func (h *testConsole) signedInAs(name string, role landfall.OperatorRole) *testUser {
	h.t.Helper()
	link, err := h.operator().CreateOperator(context.Background(), name, role)
	if err != nil {
		h.t.Fatal(err)
	}
	g := h.anonymous()
	status, body := g.post("/console/welcome/"+link.Reveal()+"/", url.Values{"password": {testPassword}, "again": {testPassword}})
	if status != http.StatusOK || !strings.Contains(body, name) {
		h.t.Fatalf("%s could not sign in: %d\n%s", name, status, body)
	}
	return g
}

// get fetches a page and follows redirects.
func (g *testUser) get(path string) (int, string) {
	g.t.Helper()
	answer, err := g.client.Get(g.server.URL + path)
	return g.read(answer, err)
}

// post sends a form as a browser does from a page of the console.
func (g *testUser) post(path string, form url.Values) (int, string) {
	g.t.Helper()
	request, _ := http.NewRequestWithContext(g.t.Context(), http.MethodPost, g.server.URL+path, strings.NewReader(form.Encode()))
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.Header.Set("Origin", g.server.URL)
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	answer, err := g.client.Do(request)
	return g.read(answer, err)
}

func (g *testUser) read(answer *http.Response, err error) (int, string) {
	g.t.Helper()
	if err != nil {
		g.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		g.t.Fatal(err)
	}
	return answer.StatusCode, string(body)
}

// wantPage fails unless a page exists and contains all texts.
func (g *testUser) wantPage(path string, texts ...string) string {
	g.t.Helper()
	status, body := g.get(path)
	if status != http.StatusOK {
		g.t.Errorf("%s: %d\n%s", path, status, body)
	}
	for _, text := range texts {
		if !strings.Contains(body, text) {
			g.t.Errorf("%s lacks %q\n%s", path, text, body)
		}
	}
	return body
}

// supplierNamed changes only the name of a supplier.
func supplierNamed(name string) operate.SupplierChange { return operate.SupplierChange{Name: &name} }
