package console

import (
	"bufio"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/service/operate"
)

// manySuppliers is the number of suppliers that one service is designed for.
const manySuppliers = 200

// seedManySuppliers creates many suppliers and counts how often the overview is loaded.
func seedManySuppliers(t testing.TB, h *testConsole) *atomic.Int64 {
	t.Helper()
	if err := h.store.Update(t.Context(), func(tx landfall.Tx) error {
		for number := range manySuppliers {
			supplier := landfall.NewSupplier(fmt.Sprintf("S%03d", number))
			if err := tx.CreateSupplier(t.Context(), supplier); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	asked, as := &atomic.Int64{}, h.console.OperatorFor
	h.console.OperatorFor = func(actor string) *operate.Operator {
		if actor == "service" { // the shared overview
			asked.Add(1)
		}
		return as(actor)
	}
	return asked
}

// The overview is loaded and rendered once for all viewers, and each receives only
// what changed.
func TestViewersShareTheOverview(t *testing.T) {
	h := newTestConsole(t)
	asked := seedManySuppliers(t, h)
	now := time.Now()
	h.console.Clock = func() time.Time { return now }
	sent := make([]map[string]string, 50)
	render := func(viewer int) string {
		r := &pageRequest{Request: httptest.NewRequest(http.MethodGet, "/console/live", nil), Writer: httptest.NewRecorder(), console: h.console,
			route: route{partial: true}, me: landfall.Operator{Name: fmt.Sprint("w", viewer), Role: landfall.ConsoleSupport}}
		found, err := r.parts(showOverview, "overview-live")
		if err != nil {
			t.Fatal(err)
		}
		return found.changed(sent[viewer])
	}
	for viewer := range sent {
		sent[viewer] = map[string]string{}
		if text := render(viewer); strings.Count(text, "<li id=") != manySuppliers {
			t.Fatalf("viewer %d is sent\n%.600s", viewer, text)
		}
		if text := render(viewer); text != "" {
			t.Fatalf("viewer %d is sent the same again:\n%.600s", viewer, text)
		}
	}
	if asked.Load() != 1 {
		t.Errorf("%d viewers ask %d times", len(sent), asked.Load())
	}
	paused := landfall.Paused
	if _, err := h.operator().SetSupplier(t.Context(), "S007", operate.SupplierChange{Status: &paused}); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * limits.ConsoleLiveAge)
	for viewer := range sent {
		if text := render(viewer); strings.Count(text, "<li id=") != 1 || !strings.Contains(text, `id="s-S007"`) || !strings.Contains(text, "Paused") {
			t.Fatalf("after one change viewer %d is sent\n%.600s", viewer, text)
		}
	}
	if asked.Load() != 2 {
		t.Errorf("after a second %d viewers asked %d times", len(sent), asked.Load())
	}
}

// A list reports how many accounts it has now.
func TestListsReportNewRows(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	sam := h.signedIn(landfall.ConsoleSupport)
	const path = "/console/suppliers/NORTH/"
	sam.wantPage(path+"accounts/?state=failed", `data-live="/console/suppliers/NORTH/accounts/live?state=failed"`, `data-count="1"`, "hidden></a>")
	sam.wantPage(path+"failures/", `accounts/live?state=faulty"`, `data-count="1"`)
	answer, err := sam.client.Get(h.server.URL + path + "accounts/live?state=staged")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	next := func(want string) {
		t.Helper()
		for lines.Scan() {
			if strings.Contains(lines.Text(), "new-rows") {
				if !strings.Contains(lines.Text(), want) {
					t.Errorf("got %q, want %q", lines.Text(), want)
				}
				return
			}
		}
		t.Fatalf("the stream ended before %q: %v", want, lines.Err())
	}
	next(`data-count="1"`)
	if _, err := h.console.Intake.Stage(t.Context(), landfall.Principal{}, []byte(`{"import_supplier":"NORTH","external_account_number":"new","customers":[{}]}`)); err != nil {
		t.Fatal(err)
	}
	next(`data-count="2"`)
}

// The overview of 200 suppliers for one viewer.
func BenchmarkOverviewOf200(b *testing.B) {
	h := newTestConsole(b)
	seedManySuppliers(b, h)
	r := &pageRequest{Request: httptest.NewRequest(http.MethodGet, "/console/live", nil), console: h.console, route: route{partial: true}}
	now := time.Now()
	h.console.Clock = func() time.Time { return now }
	for b.Loop() {
		now = now.Add(2 * limits.ConsoleLiveAge) // nothing is cached
		if _, err := r.parts(showOverview, "overview-live"); err != nil {
			b.Fatal(err)
		}
	}
}

// One more viewer of a cached overview.
func BenchmarkOneMoreViewerOf200(b *testing.B) {
	h := newTestConsole(b)
	seedManySuppliers(b, h)
	now := time.Now()
	h.console.Clock = func() time.Time { return now }
	r := &pageRequest{Request: httptest.NewRequest(http.MethodGet, "/console/live", nil), console: h.console, route: route{partial: true}}
	sent := map[string]string{}
	for b.Loop() {
		found, err := r.parts(showOverview, "overview-live")
		if err != nil {
			b.Fatal(err)
		}
		found.changed(sent)
	}
}

// The audit and the log of a webhook report new entries. A filtered audit counts
// only matching ones.
func TestAuditAndWebhooksReportNewRows(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	if _, _, err := h.operator().AddWebhook(t.Context(), operate.WebhookRequest{Name: "billing", Organisation: "Acme", URL: receiver.URL}); err != nil {
		t.Fatal(err)
	}
	sam := h.signedIn(landfall.ConsoleAuditor)
	source := func(page string) string {
		t.Helper()
		body := sam.wantPage(page, `id="new-rows"`, `data-count="0"`)
		_, rest, _ := strings.Cut(body, `data-live="`)
		path, _, _ := strings.Cut(rest, `"`)
		return html.UnescapeString(path) + "&once=1"
	}
	all, teams, hook := source("/console/admin/audit/"), source("/console/admin/audit/?action=team."), source("/console/admin/webhooks/billing/")
	for _, path := range []string{all, teams, hook} {
		sam.wantPage(path, `data-count="0"`)
	}
	if err := h.operator().CreateTeam(t.Context(), "Day Team"); err != nil {
		t.Fatal(err)
	}
	if err := h.operator().CreateOrganisation(t.Context(), "Beta"); err != nil {
		t.Fatal(err)
	}
	sam.wantPage(all, `data-count="2"`)
	sam.wantPage(teams, `data-count="1"`)
	if body := sam.wantPage("/console/admin/audit/?before=3", "supplier.create"); strings.Contains(body, "new-rows") {
		t.Error("an older page of the audit reports new entries")
	}
}
