package console

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"landfall"
)

// Targets can be added, changed, tested, given to a supplier and removed, and a refused
// delivery can be sent again. A refused form keeps what was typed.
func TestTargets(t *testing.T) {
	w := newTestWorld(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	t.Cleanup(receiver.Close)
	ada := w.signedIn(landfall.ConsoleAdministrator)
	wantPost := func(path string, input url.Values, want int, text string) {
		t.Helper()
		if got, body := ada.post("/console/"+path, input); got != want || !strings.Contains(body, text) {
			t.Errorf("%s: %d, want %d and %q\n%s", path, got, want, text, body)
		}
	}
	wantPost("admin/targets/", url.Values{"code": {"LEDGER"}, "url": {"ftp://typed"}}, http.StatusBadRequest, "ftp://typed")
	wantPost("admin/targets/", url.Values{"code": {"LEDGER"}, "url": {receiver.URL}, "takes_back": {"yes"}}, http.StatusOK, "whsec_")
	wantPost("admin/targets/LEDGER/set/", url.Values{"url": {receiver.URL}, "at_once": {"1000"}}, http.StatusBadRequest, "from 1 to 64")
	wantPost("admin/targets/LEDGER/set/", url.Values{"url": {receiver.URL}, "at_once": {"7"}}, http.StatusOK, "<dd>7</dd>")
	wantPost("admin/targets/LEDGER/test/", nil, http.StatusOK, "The target answered with HTTP 404")
	settings := url.Values{"name": {"North"}, "currency": {"GBP"}, "region": {"GB"}, "time_zone": {"Europe/London"}, "document_root": {"NORTH"}, "target": {"LEDGER"}}
	wantPost("suppliers/NORTH/settings/", settings, http.StatusOK, "<option selected>LEDGER</option>")
	wantPost("admin/targets/LEDGER/remove/", url.Values{"confirm": {"LEDGER"}}, http.StatusBadRequest, "Suppliers still deliver")
	// A page that was opened before there were targets has no such field.
	settings.Del("target")
	wantPost("suppliers/NORTH/settings/", settings, http.StatusOK, "<option selected>LEDGER</option>")

	// A target gets whole accounts. Who runs imports does not choose it.
	settings.Set("target", "")
	if got, _ := w.signedInAs("olga", landfall.ConsoleOperator).post("/console/suppliers/NORTH/settings/", settings); got != http.StatusForbidden {
		t.Errorf("an operator chose a target: %d", got)
	}

	ctx := t.Context()
	if count, err := w.store.RestartDeliveries(ctx, landfall.Key{Supplier: "NORTH"}, 1); err != nil || count != 1 {
		t.Fatal(count, err)
	}
	claims, err := w.store.ClaimTargets(ctx, 10, time.Minute)
	claims = slices.DeleteFunc(claims, func(one landfall.TargetClaim) bool { return one.Code != "LEDGER" })
	if err != nil || len(claims) != 1 {
		t.Fatal(claims, err)
	}
	round, err := w.store.TargetRound(ctx, claims[0], 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.store.SaveTargetRound(ctx, claims[0], landfall.TargetRoundResult{Results: []landfall.TargetResult{{
		Delivery: &round.Chains[0][0], State: landfall.TargetRefused, Status: 422, Reply: "unknown tariff",
	}}}); err != nil {
		t.Fatal(err)
	}
	body := ada.wantPage("/console/admin/targets/LEDGER/", "unknown tariff")
	_, rest, found := strings.Cut(body, `name="delivery" value="`)
	id, _, _ := strings.Cut(rest, `"`)
	if !found {
		t.Fatalf("there is no button for a delivery:\n%s", body)
	}
	amy := w.signedInAs("amy", landfall.ConsoleAuditor)
	if body := amy.wantPage("/console/admin/targets/LEDGER/", "refused"); strings.Contains(body, "unknown tariff") || strings.Contains(body, `name="delivery"`) {
		t.Errorf("an auditor sees what the target said, or can send it again:\n%s", body)
	}
	wantPost("admin/targets/LEDGER/replay/", url.Values{"delivery": {id}}, http.StatusOK, "Sending 1 deliveries again.")
	wantPost("admin/targets/LEDGER/replay/", url.Values{"delivery": {"x"}}, http.StatusBadRequest, "not the id of a delivery")
}
