package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/api/contract"
)

// A sign-off is refused until every difference has a reason. Then the report is
// sealed.
func TestReconciliationIsSignedOff(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	ctx, service := t.Context(), h.console.Intake
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(h.operator().Grant(ctx, "NORTH", "Acme"))
	acme := landfall.Principal{Organisation: "Acme", Role: landfall.RoleImporter}
	for external := range 2 {
		_, err := service.Stage(ctx, acme, fmt.Appendf(nil, `{"import_supplier":"NORTH","external_account_number":"%d","customers":[{}]}`, external))
		must(err)
	}
	_, err := service.ProcessAs(ctx, landfall.Principal{Operator: "operator:test"}, contract.ProcessRequest{Key: landfall.Key{Supplier: "NORTH", External: "0"}, Team: "Night Team"})
	must(err)
	ada := h.signedIn(landfall.ConsoleAdministrator)
	const path = "/console/suppliers/NORTH/reconciliation/"
	signs := func(form url.Values, status int, says ...string) {
		t.Helper()
		got, body := ada.post(path+"sign-off/", form)
		for _, text := range says {
			if got != status || !strings.Contains(body, text) {
				t.Errorf("%v: %d, want %d and %q\n%s", form, got, status, text, body)
			}
		}
	}
	signs(url.Values{"confirm": {"NORTH"}}, http.StatusBadRequest, `role="alert"`, "supplier NORTH has no control totals")
	// One account is created, one is staged, and the third is missing.
	_, err = service.SetControlTotals(ctx, acme, "NORTH", []byte(`{"accounts": 3, "customers": 2}`))
	must(err)
	ada.wantPage(path, "2 of 2 differ: 1 account unexplained", ">Supply points<", `data-name="Difference"`)
	why := url.Values{"confirm": {"NORTH"}, "reason:accounts": {"closed before the move"}}
	signs(url.Values{"confirm": {"NORTH"}}, http.StatusBadRequest, `role="alert"`, "Not everything is explained: accounts.", "Reason for the difference in Accounts (1)")
	signs(url.Values{"confirm": {"SOUTH"}, "reason:accounts": why["reason:accounts"]}, http.StatusBadRequest,
		"Type NORTH to confirm", `value="closed before the move"`, "No sign-offs yet")
	signs(why, http.StatusOK, "Report 1 sealed", ">ada</td>", `reconciliation/signed/1/"`)
	ada.wantPage(path+"signed/1/?as=json", "closed before the move", "operator:ada")
	must(h.store.View(ctx, func(view landfall.View) error {
		entries, err := view.Audit(ctx, "NORTH")
		if last := entries[len(entries)-1]; last.Action != "reconciliation.sign_off" || last.Actor != "operator:ada" {
			t.Errorf("the audit ends with %+v", last)
		}
		return err
	}))
	sam := h.signedIn(landfall.ConsoleSupport)
	if status, _ := sam.post(path+"sign-off/", why); status != http.StatusForbidden {
		t.Errorf("support signs: %d", status)
	}
}
