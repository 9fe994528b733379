package console

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// The roles that may open each part of the console. The first prefix that matches a
// path counts; {at} stands for the role at the supplier of the path.
var expectedRoles = []struct {
	method, prefix string
	roles          []landfall.OperatorRole
	general        bool // the role everywhere counts, not the one at a supplier
}{
	{"GET", "admin/operators/{name}/", []landfall.OperatorRole{"administrator"}, true},
	{"GET", "admin/operators/", []landfall.OperatorRole{"administrator", "auditor"}, true},
	{"GET", "admin/suppliers/", []landfall.OperatorRole{"administrator"}, true},
	{"GET", "admin/", []landfall.OperatorRole{"administrator", "operator", "auditor"}, true},
	{"POST", "admin/mails/", []landfall.OperatorRole{"administrator", "operator"}, true},
	{"POST", "admin/", []landfall.OperatorRole{"administrator"}, true},
	{"POST", "accounts/{supplier}/{external}/check/", []landfall.OperatorRole{"administrator", "operator", "support"}, false},
	{"POST", "accounts/{supplier}/{external}/reveal/", []landfall.OperatorRole{"administrator", "operator", "support"}, false},
	{"GET", "", []landfall.OperatorRole{"administrator", "operator", "support", "auditor"}, false},
	{"POST", "", []landfall.OperatorRole{"administrator", "operator"}, false},
}

// TestEveryRouteForEveryRole walks every route as people with every role, everywhere
// or at one supplier only, at their supplier and at another one. It does so twice: as
// the console is, and without the permissions of the routes, where the operator's
// actions must refuse by themselves.
func TestEveryRouteForEveryRole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, url string) {
		store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{Server: true, ApplySchema: true, SearchTerms: contract.SearchTerms})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = store.Close() })
		w := testConsoleOver(t, store).withRunner()
		w.seedBasics()
		if _, err := w.operator().CreateSupplier(t.Context(), "SOUTH", supplierNamed("South Water")); err != nil {
			t.Fatal(err)
		}
		runs := map[string]string{}
		for _, supplier := range []string{"NORTH", "SOUTH"} {
			if err := w.operator().Grant(t.Context(), supplier, "Acme"); err != nil {
				t.Fatal(err)
			}
			w.stage(supplier, 2, false)
			runs[supplier] = w.runLimited(supplier, 1).ID
		}
		open := http.NewServeMux()
		for _, page := range routes() {
			page.needs = 0
			open.Handle(page.pattern(), w.console.handler(page))
		}
		closed := w.console.mux
		for _, role := range append(slices.Clone(landfall.OperatorRoles), landfall.NoRole) {
			everywhere := w.signedInAs(string(role), role)
			north := w.signedInAs(string(role)+"-north", landfall.NoRole)
			if err := w.operator().SetRoles(t.Context(), string(role)+"-north", map[string]landfall.OperatorRole{"NORTH": role}); err != nil {
				t.Fatal(err)
			}
			for _, supplier := range []string{"NORTH", "SOUTH"} {
				at := role
				if supplier == "SOUTH" {
					at = landfall.NoRole
				}
				w.walk(everywhere, closed, open, role, role, supplier, runs[supplier])
				w.walk(north, closed, open, landfall.NoRole, at, supplier, runs[supplier])
			}
		}
	})
}

func (w *testWorld) walk(person *testUser, closed, open *http.ServeMux, general, at landfall.OperatorRole, supplier, run string) {
	w.t.Helper()
	values := strings.NewReplacer("{supplier}", supplier, "{external}", "A-1000000", "{run}", run, "{number}", "A-NONE", "{organisation}", "Acme", "{name}", "nobody")
	for _, page := range routes() {
		if page.public || strings.HasPrefix(page.path, "me/") || page.path == "sign-out/" || strings.HasSuffix(page.path, "undo/") {
			continue
		}
		method := "GET"
		if page.method != "" {
			method = page.method
		}
		found := slices.IndexFunc(expectedRoles, func(one struct {
			method, prefix string
			roles          []landfall.OperatorRole
			general        bool
		}) bool {
			return one.method == method && strings.HasPrefix(page.path, one.prefix)
		})
		has := at
		if expectedRoles[found].general {
			has = general
		}
		// Pages about no supplier are for people with a role anywhere.
		if !strings.Contains(page.path, "{supplier}") && !strings.Contains(page.path, "{run}") && !expectedRoles[found].general {
			continue
		}
		allowed := slices.Contains(expectedRoles[found].roles, has)
		path := Root + fillPath(values.Replace(page.path))
		visit := func() (int, string) {
			if method == "POST" {
				return person.post(path, nil)
			}
			return person.get(path + "?once=1")
		}
		status, body := visit()
		if (status != http.StatusForbidden) != allowed {
			w.t.Errorf("%s with role %q, %q at %s: %s %s is %d\n%s", person.name(), general, at, supplier, method, path, status, body)
		}
		// A download has begun when it is refused, some pages are forms without data, and
		// people who start a run need the names of the teams.
		if allowed || page.path == "admin/teams/" || strings.HasSuffix(page.path, ".csv") || strings.HasSuffix(page.path, ".ndjson") || strings.HasSuffix(page.path, "/reset/") {
			continue
		}
		w.console.mux = open
		status, body = visit()
		w.console.mux = closed
		// An action may refuse the empty form before it looks at the role.
		if status != http.StatusForbidden && (method == "GET" && status != http.StatusNotFound || status < http.StatusBadRequest) {
			w.t.Errorf("only the route protects %s %s from role %q at %s: %d\n%s", method, path, at, supplier, status, body)
		}
	}
}

// name is who is signed in.
func (g *testUser) name() string {
	_, body := g.get("/console/me/")
	_, rest, _ := strings.Cut(body, "<h1>")
	name, _, _ := strings.Cut(rest, "<")
	return name
}

// A role that is changed counts from the next page on, and people who are gone cannot
// change their own.
func TestRolesChangeAtOnce(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ada, sam := h.signedIn(landfall.ConsoleAdministrator), h.signedIn(landfall.ConsoleSupport)
	set := func(name string, roles map[string][]string) (int, string) {
		return ada.post("/console/admin/operators/"+name+"/roles/", roles)
	}
	if status, body := sam.post("/console/suppliers/NORTH/status/", map[string][]string{"status": {"Paused"}}); status != http.StatusForbidden {
		t.Errorf("support changed a supplier: %d\n%s", status, body)
	}
	if status, body := set("sam", map[string][]string{"role": {"support"}, "role.NORTH": {"operator"}}); status != http.StatusOK || !strings.Contains(body, "Roles changed.") {
		t.Fatalf("%d\n%s", status, body)
	}
	if status, body := sam.post("/console/suppliers/NORTH/status/", map[string][]string{"status": {"Paused"}}); status != http.StatusOK {
		t.Errorf("an operator of the supplier: %d\n%s", status, body)
	}
	if status, body := set("ada", map[string][]string{"role": {"support"}}); status != http.StatusBadRequest || !strings.Contains(body, "your own role") {
		t.Errorf("own role: %d\n%s", status, body)
	}
	var entries []landfall.AuditEntry
	if err := h.store.View(context.Background(), func(view landfall.View) (err error) {
		entries, err = view.Audit(context.Background(), "sam")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if last := entries[len(entries)-1]; last.Action != "operator.role" || last.Detail != "NORTH as everywhere → operator" || last.Actor != "operator:ada" {
		t.Errorf("audit: %+v", last)
	}
}
