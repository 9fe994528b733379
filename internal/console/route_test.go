package console

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"landfall"
)

// seedBasics creates a supplier, an organisation and a team.
func (h *testConsole) seedBasics() {
	h.t.Helper()
	ctx, operator := h.t.Context(), h.operator()
	must := func(err error) {
		h.t.Helper()
		if err != nil {
			h.t.Fatal(err)
		}
	}
	_, err := operator.CreateSupplier(ctx, "NORTH", supplierNamed("North Power"))
	must(err)
	must(operator.CreateOrganisation(ctx, "Acme"))
	must(operator.CreateTeam(ctx, "Night Team"))
}

// Every page renders for both roles, with and without data.
func TestEveryPageRenders(t *testing.T) {
	h := newTestConsole(t)
	for _, furnished := range []bool{false, true} {
		if furnished {
			h.seedBasics()
		}
		for name, role := range map[string]landfall.OperatorRole{"ada": landfall.ConsoleAdministrator, "olga": landfall.ConsoleAuditor} {
			if furnished {
				name += "-later"
			}
			g := h.signedInAs(name, role)
			for _, page := range routes() {
				if page.method == http.MethodPost || page.public || page.streaming || strings.Contains(page.path, "{") && !furnished {
					continue
				}
				if page.needs == landfall.MayAdminister && role != landfall.ConsoleAdministrator {
					continue
				}
				path := strings.NewReplacer("{supplier}", "NORTH", "{organisation}", "Acme").Replace(page.path)
				if strings.Contains(path, "{") {
					continue
				}
				end := "</html>"
				if page.partial {
					end = "</p>"
				}
				g.wantPage(Root+path, end)
			}
		}
	}
}

// An action shows its message, and the audit names the person.
func TestActionsAreAuditedByName(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ada := h.signedIn(landfall.ConsoleAdministrator)
	for _, act := range []struct {
		path    string
		form    url.Values
		says    string
		action  string
		subject string
	}{
		{"admin/teams/", url.Values{"name": {"Day Team"}}, "Team Day Team created.", "team.create", "Day Team"},
		{"admin/organisations/", url.Values{"name": {"Beta"}}, "It needs an API key and a supplier.", "organisation.create", "Beta"},
		{"admin/organisations/Beta/grant/", url.Values{"supplier": {"NORTH"}}, "Access granted.", "supplier.grant", "NORTH"},
		{"admin/organisations/Beta/keys/", url.Values{"role": {"importer"}}, "it will not be shown again", "", ""},
		{"admin/operators/", url.Values{"name": {"bob"}, "role": {"support"}}, "/console/welcome/", "operator.create", "bob"},
		{"suppliers/NORTH/status/", url.Values{"status": {"Paused"}}, "NORTH is now Paused.", "supplier.set", "NORTH"},
		{"suppliers/NORTH/status/", url.Values{"status": {"Ongoing"}}, "NORTH is now Ongoing.", "supplier.set", "NORTH"},
		{"suppliers/NORTH/runs/", url.Values{"select": {"pending"}, "team": {"Night Team"}}, "Run details", "", ""},
	} {
		status, body := ada.post(Root+act.path, act.form)
		if status != http.StatusOK || !strings.Contains(body, act.says) {
			t.Errorf("%s: %d, want %q\n%s", act.path, status, act.says, body)
		}
		if act.action == "" {
			continue
		}
		var entries []landfall.AuditEntry
		if err := h.store.View(t.Context(), func(view landfall.View) (err error) {
			entries, err = view.Audit(t.Context(), act.subject)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if len(entries) == 0 || entries[len(entries)-1].Actor != "operator:ada" || entries[len(entries)-1].Action != act.action {
			t.Errorf("%s left %+v", act.path, entries)
		}
	}
}

// A refused form keeps what was typed. Dangerous actions need confirmation.
func TestRefusedFormsKeepInput(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ada := h.signedIn(landfall.ConsoleAdministrator)
	for _, act := range []struct {
		path        string
		form        url.Values
		says, keeps string
	}{
		{"admin/teams/", url.Values{"name": {"Night Team"}}, "already", `value="Night Team"`},
		{"suppliers/NORTH/runs/", url.Values{"select": {"pending"}, "team": {"Night Team"}, "sample": {"many"}}, "not a whole number", `value="many"`},
		{"suppliers/NORTH/settings/", url.Values{"name": {"North"}, "currency": {"XXY"}, "region": {"GB"}, "time_zone": {"Europe/London"}, "document_root": {"NORTH"}}, "ISO 4217", `value="XXY"`},
		{"suppliers/NORTH/status/", url.Values{"status": {"Complete"}, "confirm": {"north"}}, "Type NORTH to confirm", ""},
		{"admin/operators/ada/disable/", nil, "cannot disable yourself", ""},
	} {
		status, body := ada.post(Root+act.path, act.form)
		if status != http.StatusBadRequest || !strings.Contains(body, act.says) || !strings.Contains(body, act.keeps) || !strings.Contains(body, `role="alert"`) {
			t.Errorf("%s: %d, want %q and %q\n%s", act.path, status, act.says, act.keeps, body)
		}
	}
}

// Unknown paths are not found, but a missing trailing slash is added.
func TestUnknownPages(t *testing.T) {
	h := newTestConsole(t)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	for _, path := range []string{"nowhere/", "suppliers/NONE/", "runs/R-0/", "admin/organisations/None/", "assets/none.css"} {
		if status, body := ada.get(Root + path); status != http.StatusNotFound {
			t.Errorf("%s: %d\n%s", path, status, body)
		}
	}
	ada.wantPage("/console/me", "This session")
}

// The first message of the overview stream has the rows.
func TestOverviewStreams(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ada := h.signedIn(landfall.ConsoleAdministrator)
	ada.wantPage("/console/live?once=1", `id="s-NORTH"`)
	answer, err := ada.client.Get(h.server.URL + "/console/live")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	first := make([]byte, 64)
	if _, err := answer.Body.Read(first); err != nil || !strings.HasPrefix(string(first), "data: ") {
		t.Errorf("%q, %v", first, err)
	}
	if kind := answer.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Errorf("it is %s", kind)
	}
}
