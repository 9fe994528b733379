package console

import (
	"bufio"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/service/operate"
)

// Every action refuses requests from other sites.
func TestActionsRefuseOtherSites(t *testing.T) {
	h := newTestConsole(t)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	for _, page := range routes() {
		if page.method != http.MethodPost {
			continue
		}
		for name, value := range map[string]string{"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"} {
			request, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.server.URL+Root+fillPath(page.path), nil)
			request.Header.Set(name, value)
			if status, body := ada.read(ada.client.Do(request)); status != http.StatusForbidden || !strings.Contains(body, "another site") {
				t.Errorf("%s with %s: %d\n%.300s", page.path, name, status, body)
			}
		}
	}
	ada.wantPage("/console/me/", "This session")
}

// Signing in creates a new session, even if an attacker set a cookie before.
func TestSessionFixationIsPrevented(t *testing.T) {
	h := newTestConsole(t)
	h.signedIn(landfall.ConsoleAdministrator)
	const foreign = "planted-by-somebody-else-0123456789"
	victim := h.anonymous()
	home, _ := url.Parse(h.server.URL)
	victim.client.Jar.SetCookies(home, []*http.Cookie{{Name: sessionName, Value: foreign, Path: "/"}})
	if status, body := victim.post("/console/sign-in/", url.Values{"name": {"ada"}, "password": {testPassword}}); status != http.StatusOK || !strings.Contains(body, "Suppliers") {
		t.Fatalf("%d\n%s", status, body)
	}
	if slices.ContainsFunc(victim.client.Jar.Cookies(home), func(c *http.Cookie) bool { return c.Name == sessionName && c.Value == foreign }) {
		t.Error("the planted session was kept")
	}
	thief := h.anonymous()
	thief.client.Jar.SetCookies(home, []*http.Cookie{{Name: sessionName, Value: foreign, Path: "/"}})
	thief.wantPage("/console/", "Sign in", `name="password"`)
}

// Live pages stop when the operator is disabled or the session ends.
func TestStreamsEndWithTheSession(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ada := h.signedIn(landfall.ConsoleAdministrator)
	answer, err := ada.client.Get(h.server.URL + "/console/live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	if !lines.Scan() {
		t.Fatal(lines.Err())
	}
	if err := h.operator().DisableOperator(t.Context(), "ada"); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		continue // until the stream ends; otherwise the test times out
	}
	if err := lines.Err(); err != nil {
		t.Error(err)
	}
}

// Streams are limited per session and per replica.
func TestStreamsAreLimited(t *testing.T) {
	w := streamLimiter{bySession: map[string]int{}}
	var leave []func()
	for range 5_000 {
		if gone, ok := w.acquire("one"); ok {
			leave = append(leave, gone)
		}
	}
	if len(leave) != maxSessionStreams {
		t.Errorf("one has %d streams", len(leave))
	}
	for session := range 5_000 {
		if gone, ok := w.acquire(fmt.Sprint(session)); ok {
			leave = append(leave, gone)
		}
	}
	if len(leave) != maxStreams {
		t.Errorf("there are %d streams", len(leave))
	}
	for _, gone := range leave {
		gone()
	}
	if w.total != 0 || len(w.bySession) != 0 {
		t.Errorf("when all have left there are %+v", w.bySession)
	}
	h := newTestConsole(t)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	h.console.streams.total = maxStreams
	if status, body := ada.get("/console/live"); status != http.StatusServiceUnavailable || !strings.Contains(body, "polls instead") {
		t.Errorf("one more: %d %s", status, body)
	}
	ada.wantPage("/console/live?once=1")
}

// Very long addresses cause no internal error.
func TestLongAddresses(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	long := strings.Repeat("x", 200_000)
	for _, path := range []string{
		"search/?q=", "search/found/?q=", "suppliers/NORTH/accounts/?state=failed&code=", "suppliers/NORTH/accounts/?after=", "admin/audit/?subject=",
		"admin/audit/?before=", "accounts/NORTH/1/?ledger=", "sign-in/?to=", "suppliers/", "runs/", "accounts/NORTH/",
	} {
		if status, body := ada.get(Root + path + long); status >= http.StatusInternalServerError || len(body) > 1<<20 {
			t.Errorf("%s: %d with %d bytes", path, status, len(body))
		}
	}
}

// Hostile names of suppliers, teams, webhooks and reasons are escaped on every page.
func TestHostileNamesAreEscaped(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	ctx, operator := t.Context(), h.operator()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	name := "N " + scriptTag
	_, err := operator.SetSupplier(ctx, "NORTH", operate.SupplierChange{Name: &name})
	must(err)
	must(operator.CreateOrganisation(ctx, "Acme"))
	must(operator.CreateTeam(ctx, "T "+scriptTag))
	must(operator.Grant(ctx, "NORTH", "Acme"))
	_, _, err = operator.AddWebhook(ctx, operate.WebhookRequest{Name: "billing", Organisation: "Acme", URL: `http://127.0.0.1:1/?a="><script>alert("x")</script>`})
	must(err)
	if outcome, err := operator.TestWebhook(ctx, "billing"); err != nil || outcome.Reason == "" {
		t.Fatalf("%+v %v", outcome, err)
	}
	must(operator.SetVendor(ctx, landfall.Vendor{Code: "SANDBOX", Adapter: "sandbox"}))
	must(operator.Skip(ctx, landfall.Key{Supplier: "NORTH", External: "3"}, "because "+scriptTag))
	run, err := operator.StartRun(ctx, landfall.RunPlan{Supplier: "NORTH", Team: "T " + scriptTag, Select: landfall.SelectPending})
	must(err)
	must(operator.RecordReveal(ctx, landfall.Key{Supplier: "NORTH", External: "1"}, "why "+scriptTag))
	ada := h.signedIn(landfall.ConsoleAdministrator)
	values := strings.NewReplacer("{supplier}", "NORTH", "{external}", "1", "{run}", run.ID, "{organisation}", "Acme", "{vendor}", "SANDBOX", "{webhook}", "billing", "{target}", "BILLING")
	for _, path := range Paths() {
		path = values.Replace(path)
		if strings.Contains(path, "{") || strings.HasSuffix(path, ".csv") {
			continue // files are no pages
		}
		if strings.HasSuffix(path, "live") {
			path += "?once=1"
		}
		_, body := ada.get(path)
		ada.wantEscaped(path, body)
		_, body = ada.get(path + "?q=" + url.QueryEscape(scriptTag) + "&subject=" + url.QueryEscape(scriptTag) + "&code=" + url.QueryEscape(scriptTag))
		ada.wantEscaped(path, body)
	}
	jar, _ := cookiejar.New(nil)
	visitor := &testUser{h, &http.Client{Jar: jar}}
	_, body := visitor.get("/console/sign-in/?to=" + url.QueryEscape(`/console/"><script>alert("x")</script>`))
	visitor.wantEscaped("sign-in", body)
}

// TestAWebhooksTokenWasShownToReaders adds a webhook whose URL contains a token. Only those who may
// change it see the whole URL, and the audit never does.
func TestAWebhooksTokenWasShownToReaders(t *testing.T) {
	h := newTestConsole(t)
	ctx := t.Context()
	if err := h.operator().CreateOrganisation(ctx, "Acme"); err != nil {
		t.Fatal(err)
	}
	const secret = "T0KEN-IN-THE-URL"
	for name, address := range map[string]string{"path": "http://127.0.0.1:1/hooks/" + secret, "query": "http://127.0.0.1:1/?token=" + secret} {
		if _, _, err := h.operator().AddWebhook(ctx, operate.WebhookRequest{Name: name, Organisation: "Acme", URL: address}); err != nil {
			t.Fatal(err)
		}
	}
	ada, sam := h.signedIn(landfall.ConsoleAdministrator), h.signedInAs("olga", landfall.ConsoleAuditor)
	for _, name := range []string{"path", "query"} {
		ada.wantPage("/console/admin/webhooks/"+name+"/", secret)
		if body := sam.wantPage("/console/admin/webhooks/"+name+"/", "http://127.0.0.1:1/…"); strings.Contains(body, secret) {
			t.Errorf("support sees the token of %s", name)
		}
	}
	if body := ada.wantPage("/console/admin/audit/?action=webhook.", "127.0.0.1:1/…"); strings.Contains(body, secret) {
		t.Errorf("the audit has the token:\n%s", body)
	}
}
