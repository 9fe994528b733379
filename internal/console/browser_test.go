package console

import (
	"encoding/json"
	"net/http"
	"os"
	"slices"
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
	paths, err := json.Marshal(w.paths())
	if err != nil {
		t.Fatal(err)
	}
	arguments := []string{w.server.URL, consolePath("welcome", link.Reveal()), consolePath("welcome", support.Reveal()), testPassword, string(paths)}
	if pictures := os.Getenv("LANDFALL_SCREENSHOTS"); pictures != "" {
		arguments = append(arguments, pictures)
	}
	runInBrowser(t, "visit.mjs", arguments...)
}

// paths lists every page, with data on it.
func (w *testWorld) paths() []string {
	runs, err := w.operator().Runs(w.t.Context(), "NORTH", 1)
	if err != nil {
		w.t.Fatal(err)
	}
	values := strings.NewReplacer("{supplier}", "NORTH", "{external}", "A-1000003", "{account}", "A-1000003", "{run}", runs[0].ID, "{organisation}", "Acme",
		"{vendor}", "SANDBOX", "{webhook}", "billing", "{target}", "BILLING")
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
	return append(slices.Compact(append(paths, w.accountPaths()...)), "/console/suppliers/SOUTH/", "/console/suppliers/SOUTH/runs/", "/console/nowhere/")
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
