package console

import (
	"net/http"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// Every page works with encryption. The search says that it only finds whole words.
func TestEveryPageWithEncryption(t *testing.T) {
	store, err := sqlstore.Open(t.Context(), dbtest.SQLite(t), sqlstore.Options{
		Server: true, ApplySchema: true, SearchTerms: contract.SearchTerms, Keys: []seal.Key{seal.NewKey()},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h := testConsoleOver(t, store)
	seedAccounts(h)
	w := h.withRunner()
	if err := h.operator().CreateOrganisation(t.Context(), "Acme"); err != nil {
		t.Fatal(err)
	}
	if err := h.operator().CreateTeam(t.Context(), "Night Team"); err != nil {
		t.Fatal(err)
	}
	run := w.runLimited("NORTH", 0)
	if _, err := store.IndexTerms(t.Context()); err != nil {
		t.Fatal(err)
	}
	ada := h.signedIn(landfall.ConsoleAdministrator)
	values := strings.NewReplacer("{supplier}", "NORTH", "{external}", "1", "{run}", run.ID, "{organisation}", "Acme")
	for _, path := range Paths() {
		path = values.Replace(path)
		if strings.Contains(path, "{") {
			continue
		}
		switch {
		case strings.HasSuffix(path, "live"):
			path += "?once=1"
		case strings.HasSuffix(path, "reconciliation/accounts/"):
			path += "?measure=accounts&reason=pending"
		}
		if status, body := ada.get(path); status != http.StatusOK {
			t.Errorf("%s: %d\n%.400s", path, status, body)
		}
	}
	for _, external := range []string{"1", "2", "3", "4"} {
		ada.wantPage("/console/accounts/NORTH/"+external+"/", "Timeline")
	}
	const wholeWords = "only found by complete words"
	ada.wantPage("/console/search/?q=lovelace", "/console/accounts/NORTH/1/", wholeWords)
	ada.wantPage("/console/search/?q=lovel", "No accounts match", wholeWords)
	ada.wantPage("/console/search/?q=1", "at least 2 characters")
	ada.wantPage("/console/suppliers/NORTH/accounts/?state=failed", "/accounts/NORTH/")
}
