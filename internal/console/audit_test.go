package console

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/service/operate"
)

// notAudited are the actions that the test below leaves out, each with the reason.
var notAudited = map[string]string{
	"theme/":                       "it only sets a cookie",
	"me/second/":                   "tested with codes in internal/app",
	"me/second/off/":               "likewise",
	"me/second/confirm/":           "likewise",
	"me/second/recovery/":          "likewise",
	"set-up/{link}/":               "tested in TestSetUpOfANewServer",
	"me/passkeys/":                 "tested in TestPasskeys with a browser",
	"me/passkeys/finish/":          "likewise",
	"me/passkeys/remove/":          "likewise",
	"sign-in/passkey/":             "it only makes a challenge",
	"sign-in/passkey/finish/":      "tested in TestPasskeys with a browser",
	"admin/mails/":                 "tested in TestMailsPage",
	"admin/mails/{mail}/retry/":    "likewise",
	"admin/mails/{mail}/withdraw/": "likewise",
	"admin/mails/{mail}/bounced/":  "likewise",
	// These start runs, as in TestJourneysOfFailures and TestRehearseThenRun.
	"runs/{run}/for-real/":                 "it starts a run, which is audited",
	"suppliers/{supplier}/failures/retry/": "likewise",
}

// auditStep is one action with its path values and form.
type auditStep struct {
	pattern string
	values  []string // of the path, name and value in turn
	form    url.Values
}

// Every action of the console leaves an audit entry.
func TestEveryActionIsAudited(t *testing.T) {
	w := newTestConsole(t).withRunner()
	w.seedBasics()
	ctx := t.Context()
	receiver := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(receiver.Close)
	operator := w.operator()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(operator.Grant(ctx, "NORTH", "Acme"))
	acme := landfall.Principal{Organisation: "Acme", Role: landfall.RoleImporter}
	for external := range 3 {
		_, err := w.console.Intake.Stage(ctx, acme, fmt.Appendf(nil, `{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}`, external))
		must(err)
	}
	var err error
	finished := w.runLimited("NORTH", 1)
	_, err = w.console.Intake.SetControlTotals(ctx, acme, "NORTH", []byte(`{"accounts": 3}`))
	must(err)
	key, _, err := operator.CreateKey(ctx, operate.KeyRequest{Organisation: "Acme", Role: landfall.RoleImporter})
	must(err)
	link, err := operator.CreateOperator(ctx, "eve", landfall.ConsoleSupport)
	must(err)
	w.signedInAs("bob", landfall.ConsoleSupport)
	sessions, err := operator.Sessions(ctx, w.console.Sessions.Idle())
	must(err)
	ada := w.signedIn(landfall.ConsoleAdministrator)
	w.saveTarget("T")
	target := []string{"{target}", "T"}

	north, acmes, vendor, hook := []string{"{supplier}", "NORTH"}, []string{"{organisation}", "Acme"}, []string{"{vendor}", "V"}, []string{"{webhook}", "w"}
	account := func(external string) []string { return append(north, "{external}", external) }
	run := []string{"{run}", finished.ID}
	confirm := func(name string) url.Values {
		return url.Values{"confirm": {name}, "reason": {"a reason"}, "team": {"Night Team"}}
	}
	one := func(name, value string) url.Values { return url.Values{name: {value}} }
	steps := []auditStep{
		{"admin/teams/", nil, one("name", "Day Team")}, {"admin/organisations/", nil, one("name", "Beta")},
		{"admin/organisations/{organisation}/keys/", acmes, one("role", "viewer")},
		{"admin/organisations/{organisation}/revoke/", acmes, url.Values{"key": {key.ID}, "confirm": {key.ID}}},
		{"admin/organisations/{organisation}/quotas/", acmes, one("tokens_per_minute", "7")},
		{"admin/organisations/{organisation}/disable/", acmes, confirm("Acme")}, {"admin/organisations/{organisation}/enable/", acmes, nil},
		{"admin/organisations/{organisation}/ungrant/", acmes, one("supplier", "NORTH")}, {"admin/organisations/{organisation}/grant/", acmes, one("supplier", "NORTH")},
		{"admin/vendors/", nil, url.Values{"code": {"V"}, "adapter": {"sandbox"}}}, {"admin/vendors/{vendor}/set/", vendor, one("adapter", "sandbox")},
		{"admin/vendors/{vendor}/check/", vendor, url.Values{"reference": {"mandate-1"}, "type": {"CARD"}}},
		{"admin/vendors/{vendor}/grant/", vendor, one("supplier", "NORTH")}, {"admin/vendors/{vendor}/revoke/", vendor, one("supplier", "NORTH")},
		{"admin/vendors/{vendor}/open/", vendor, nil}, {"admin/vendors/{vendor}/remove/", vendor, confirm("V")},
		{"admin/webhooks/", nil, url.Values{"name": {"w"}, "organisation": {"Acme"}, "url": {receiver.URL}}},
		{"admin/webhooks/{webhook}/test/", hook, nil}, {"admin/webhooks/{webhook}/replay/", hook, nil},
		{"admin/webhooks/{webhook}/disable/", hook, nil}, {"admin/webhooks/{webhook}/enable/", hook, nil}, {"admin/webhooks/{webhook}/remove/", hook, confirm("w")},
		{"admin/targets/", nil, url.Values{"code": {"U"}, "url": {receiver.URL}}}, {"admin/targets/{target}/set/", target, url.Values{"url": {receiver.URL}}},
		{"admin/targets/{target}/test/", target, nil}, {"admin/targets/{target}/remove/", []string{"{target}", "U"}, confirm("U")},
		{"admin/targets/{target}/pause/", target, nil}, {"admin/targets/{target}/resume/", target, nil}, {"admin/targets/{target}/replay/", target, nil},
		{"admin/operators/", nil, url.Values{"name": {"cora"}, "role": {"support"}}}, {"admin/operators/{name}/reset/", []string{"{name}", "cora"}, url.Values{"confirm": {"cora"}, "password": {testPassword}}},
		{"admin/operators/{name}/roles/", []string{"{name}", "cora"}, url.Values{"role": {"operator"}}},
		{"admin/operators/{name}/disable/", []string{"{name}", "cora"}, nil}, {"admin/operators/{name}/enable/", []string{"{name}", "cora"}, nil},
		{"admin/sessions/{session}/end/", []string{"{session}", sessions[0].ID}, nil},
		{"accounts/{supplier}/{external}/reveal/", account("1"), confirm("")},
		{"accounts/{supplier}/{external}/check/", account("1"), url.Values{"fact": {"postcode"}, "said": {"NR2 1AB"}}}, {"accounts/{supplier}/{external}/dry-run/", account("1"), confirm("")},
		{"accounts/{supplier}/{external}/process/", account("1"), confirm("yes")}, {"accounts/{supplier}/{external}/undo/", account("1"), confirm("NORTH")},
		{"accounts/{supplier}/{external}/skip/", account("1"), confirm("")}, {"accounts/{supplier}/{external}/unskip/", account("1"), confirm("")},
		{"suppliers/{supplier}/reconciliation/sign-off/", north, confirm("NORTH")},
		{"suppliers/{supplier}/reconciliation/totals/", north, one("count:accounts", "4")},
		{"admin/suppliers/new/", nil, url.Values{"code": {"EAST"}, "currency": {"GBP"}, "region": {"GB"}, "time_zone": {"Europe/London"}, "statement_amounts": {"major"}}},
		{"accounts/{supplier}/{external}/erase/", account("1"), confirm("NORTH")},
		{"runs/{run}/undo/", run, confirm("NORTH")},
		{"suppliers/{supplier}/settings/", north, url.Values{"name": {"North"}, "currency": {"GBP"}, "region": {"GB"}, "time_zone": {"Europe/London"}, "document_root": {"NORTH"}, "keep_staged": {"90d"}}},
		{"suppliers/{supplier}/rules/", north, one("rule."+contract.RuleCodes()[0], "warning")},
		{"suppliers/{supplier}/status/", north, one("status", "Ongoing")},
		{"suppliers/{supplier}/runs/", north, url.Values{"select": {"pending"}, "team": {"Night Team"}, "not_before": {"2099-01-01T00:00"}}},
		{"runs/{run}/pause/", nil, nil}, {"runs/{run}/resume/", nil, nil}, {"runs/{run}/cancel/", nil, confirm("NORTH")},
		{"me/password/", nil, url.Values{"old": {testPassword}, "password": {testPassword + "!"}, "again": {testPassword + "!"}}}, {"sign-out/", nil, nil},
		{"sign-in/", nil, url.Values{"name": {"ada"}, "password": {testPassword + "!"}}}, {"sign-out/", nil, nil},
		{"welcome/{link}/", []string{"{link}", link.Reveal()}, url.Values{"password": {testPassword}, "again": {testPassword}}},
	}
	tried := map[string]bool{}
	for _, step := range steps {
		tried[step.pattern] = true
		if strings.HasPrefix(step.pattern, "runs/") && step.values == nil {
			runs, err := operator.Runs(ctx, "NORTH", 1)
			must(err)
			step.values = []string{"{run}", runs[0].ID}
		}
		before := w.auditCount()
		status, body := ada.post(Root+strings.NewReplacer(step.values...).Replace(step.pattern), step.form)
		if status != http.StatusOK || strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d\n%s", step.pattern, status, body)
		}
		if after := w.auditCount(); after <= before {
			t.Errorf("%s left no audit entry", step.pattern)
		}
	}
	for _, page := range routes() {
		if page.method == http.MethodPost && !tried[page.path] && notAudited[page.path] == "" {
			t.Errorf("%s is an action that this test does not cover", page.path)
		}
	}
}

// auditCount returns the number of audit entries of people who use the console.
func (h *testConsole) auditCount() (entries int) {
	h.t.Helper()
	for link, err := range h.operator().Audit(h.t.Context(), operate.AuditFilter{}) {
		if err != nil {
			h.t.Fatal(err)
		}
		if link.Actor != "operator:test" {
			entries++
		}
	}
	return entries
}

// The audit names people, and shows an undo of many accounts as one line that opens.
func TestAuditGroupsWhatOneActCaused(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ada := h.signedIn(landfall.ConsoleAdministrator)
	if err := h.store.Update(t.Context(), func(tx landfall.Tx) error {
		for i := range 191 {
			if err := tx.AppendAudit(t.Context(), landfall.AuditEntry{
				Actor: "operator:bob", Action: "account.undo", Subject: fmt.Sprintf("NORTH/A-%d", i), Detail: "wrong book", RequestID: "req-1",
			}); err != nil {
				return err
			}
		}
		return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: "shell:bob", Action: "supplier.set", Subject: "NORTH", Detail: "name=North (was Old)"})
	}); err != nil {
		t.Fatal(err)
	}
	body := ada.wantPage("/console/admin/audit/", "191 accounts", "Show all 191", `<a href="/console/accounts/NORTH/A-190/">`, "bob via command line",
		`<a href="/console/suppliers/NORTH/">NORTH</a>`, "Name: Old → North", "team.create")
	if strings.Contains(body, `<td class="nowrap">operator:`) || strings.Contains(body, "Older entries") {
		t.Errorf("the page names actors as they are stored, or has two pages\n%s", body)
	}
	for _, filter := range []string{"actor=bob", "subject=NORTH", "action=account."} {
		body := ada.wantPage("/console/admin/audit/?"+filter, "191 accounts")
		if strings.Contains(body, "team.create") {
			t.Errorf("%s lets other entries through", filter)
		}
	}
}
