package console

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/test/tooltest"
)

// A real browser signs in, starts a run and undoes it, and opens every page in both
// themes, at phone width and without JavaScript. With LANDFALL_SCREENSHOTS it saves
// screenshots in that folder.
func TestPeopleUseTheConsole(t *testing.T) {
	tooltest.SkipIfShort(t)
	w := newTestWorld(t)
	link, err := w.operator().CreateOperator(t.Context(), "ada", landfall.ConsoleAdministrator)
	if err != nil {
		t.Fatal(err)
	}
	support, err := w.operator().CreateOperator(t.Context(), "sam", landfall.ConsoleSupport)
	if err != nil {
		t.Fatal(err)
	}
	fresh := newTestConsole(t) // nobody can sign in to it yet
	offer, err := fresh.console.Sessions.OfferSetUp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	paths, err := json.Marshal(append(w.paths(), fresh.server.URL+"/console/", fresh.server.URL+SetUpPath(offer.Reveal())))
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{w.server.URL, consolePath("welcome", link.Reveal()), consolePath("welcome", support.Reveal()), testPassword, string(paths)}
	if pictures := os.Getenv("LANDFALL_SCREENSHOTS"); pictures != "" {
		arguments = append(arguments, pictures)
	}
	w.wantEveryPage(runInBrowser(t, "visit.mjs", arguments...))
}

// unvisited are the readable routes that are no pages of their own.
var unvisited = []string{"accounts/{number}/"} // leads to the page of the account

// wantEveryPage fails if there is a page that axe has not seen. Each of the seen ones is a
// method and a path.
func (w *testWorld) wantEveryPage(seen []string) {
	w.t.Helper()
	mux, visited := http.NewServeMux(), map[string]bool{}
	for _, page := range routes() {
		mux.Handle(page.pattern(), http.NotFoundHandler())
	}
	for _, one := range seen {
		method, path, _ := strings.Cut(one, " ")
		request, err := http.NewRequestWithContext(w.t.Context(), method, path, nil)
		if err != nil {
			w.t.Fatal(err)
		}
		_, pattern := mux.Handler(request)
		visited[pattern] = true
	}
	for _, page := range routes() {
		isPage := page.method != http.MethodPost && page.view != "" && !page.streaming && !page.partial
		if isPage && !visited[page.pattern()] && !slices.Contains(unvisited, page.path) {
			w.t.Errorf("axe has not seen the page %s", page.path)
		}
	}
}

// paths lists every page, with data on it.
func (w *testWorld) paths() []string {
	runs, err := w.operator().Runs(w.t.Context(), "NORTH", 1)
	if err != nil {
		w.t.Fatal(err)
	}
	values := strings.NewReplacer("{supplier}", "NORTH", "{external}", "A-1000003", "{account}", "A-1000003", "{run}", runs[0].ID, "{organisation}", "Acme",
		"{vendor}", "SANDBOX", "{webhook}", "billing", "{target}", "BILLING", "{mail}", w.aMail(), "{name}", w.anOperator())
	var paths []string
	for _, page := range routes() {
		path := Root + values.Replace(page.path)
		if page.path == "admin/audit/" && !screenshots() {
			path += "?action=key." // axe takes long for many entries
		}
		if page.method != http.MethodPost && !page.public && !page.streaming && !page.partial && !strings.Contains(path, "{") {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return append(slices.Compact(append(paths, w.accountPaths()...)), "/console/suppliers/SOUTH/", "/console/suppliers/SOUTH/runs/", "/console/admin/mails/?state=refused",
		"/console/admin/targets/BILLING/?state=waiting", "/console/nowhere/")
}

// aMail is the number of a mail to a customer.
func (w *testWorld) aMail() (id string) {
	w.t.Helper()
	if err := w.operator().Mails(w.t.Context(), landfall.MailQuery{Limit: 1}, func(found landfall.MailRecord) error {
		id = strconv.FormatInt(found.ID, 10)
		return nil
	}); err != nil || id == "" {
		w.t.Fatalf("there is no mail: %v", err)
	}
	return id
}

// anOperator creates somebody whose roles can be changed.
func (w *testWorld) anOperator() string {
	w.t.Helper()
	if _, err := w.operator().CreateOperator(w.t.Context(), "olga", landfall.ConsoleAuditor); err != nil {
		w.t.Fatal(err)
	}
	return "olga"
}

// accountPaths lists an account of each state, their lists and a search.
func (w *testWorld) accountPaths() []string {
	paths := []string{"/console/search/?q=A-100000", accountPath(hostileAccount), "/console/accounts/NORTH/A-1000007/", "/console/suppliers/NORTH/accounts/?state=faulty"}
	for state, supplier := range map[string]string{"imported": "NORTH", "refused": "NORTH", "staged": "EAST"} {
		list := "/console/suppliers/" + supplier + "/accounts/?state=" + state
		body := w.signedInAs("reader-"+state, landfall.ConsoleSupport).wantPage(list, "</html>")
		if _, link, is := strings.Cut(body, `href="/console/accounts/`); is {
			name, _, _ := strings.Cut(link, `"`)
			paths = append(paths, "/console/accounts/"+name)
		}
	}
	return paths
}
