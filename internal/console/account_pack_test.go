package console

import (
	"crypto/sha256"
	"net/url"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// The page of an account shows the fields of its packs with their descriptions, and hides those that
// are about people until they are revealed.
func TestAccountPageShowsFieldsOfPacks(t *testing.T) {
	h := newTestConsole(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(h.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.CreateTeam(ctx, "Movers"); err != nil {
			return err
		}
		supplier := landfall.NewSupplier("NORTH")
		supplier.Packs = []string{"gb-energy@1"}
		return tx.CreateSupplier(ctx, supplier)
	}))
	key := landfall.Key{Supplier: "NORTH", External: "1"}
	document := []byte(`{"import_supplier":"NORTH","external_account_number":"1","customers":[{"family_name":"Ray","credit_score":712,"psr":[{"elec_industry_code":"SECRET-1"}]}],
		"smart_read_cycle_day":17,"dunning_path":{"path_name":"<script>x</script>","start_date":"2026-03-04"},"debts":[{"aged_debt":[{"debt_amount":"12.50"},{"debt_amount":"7.75"}]}]}`)
	_, err := h.store.Stage(ctx, landfall.Staging{Key: key, Document: document, Hash: sha256.Sum256(document), Figures: landfall.Figures{Currency: "GBP"}})
	must(err)
	claimed, err := h.store.Claim(ctx, landfall.ClaimRequest{Key: key, Team: "Movers", Lease: time.Minute})
	must(err)
	outcome, err := h.store.Create(ctx, landfall.Creation{Claim: claimed.Claim, Account: landfall.Account{Packs: []string{"gb-energy@1"}, Periods: []landfall.Period{{FromOn: calendar.Date(2026, time.July, 1)}}, Data: landfall.AccountData{Currency: "GBP"}}})
	if must(err); outcome.Verdict != landfall.Created {
		t.Fatal(outcome)
	}
	sam := h.signedIn(landfall.ConsoleSupport)
	const path = "/console/accounts/NORTH/1/"
	body := sam.wantPage(path, "Fields of packs", "Smart read cycle day", "<bdi>17</bdi>", "First day on the path.", "2026-03-04",
		"debts.0.aged_debt.1.debt_amount", "7.75", "customers.0.psr.0.elec_industry_code")
	for _, personal := range []string{"712", "SECRET-1", "script>x"} {
		if strings.Contains(body, personal) {
			t.Errorf("%s is on the page", personal)
		}
	}
	_, body = sam.post(path+"reveal/", url.Values{"reason": {"the customer called"}})
	if !strings.Contains(body, "<bdi>712</bdi>") || !strings.Contains(body, "SECRET-1") || strings.Contains(body, "<script>x") {
		t.Errorf("the revealed page has %s", body)
	}
}
