package console

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/service/operate"
)

// fakeVendor knows one instruction.
type fakeVendor struct{}

func (fakeVendor) Verify(_ context.Context, _ string, _ landfall.Vendor, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	if instruction.Reference != "mandate-1" {
		return landfall.InstructionDetails{}, landfall.RefuseField("reference", landfall.CodeInstructionNotFound, "The payment vendor does not know this instruction.")
	}
	return landfall.InstructionDetails{Status: "active", Scheme: "bacs", LastDigits: "4321"}, nil
}

// Vendors can be added, changed, checked, granted and removed. A refused form keeps
// what was typed.
func TestVendors(t *testing.T) {
	h := newTestConsole(t)
	h.seedBasics()
	verifier := landfall.InstructionVerifier(fakeVendor{})
	h.console.OperatorFor = func(actor string) *operate.Operator {
		return operate.New(h.store, operate.Options{Actor: actor, Verifier: verifier})
	}
	h.console.VendorHealth = func(string) string { return "refused by vendor" }
	ada := h.signedIn(landfall.ConsoleOperator)
	told := func(path string, form url.Values, status int, texts ...string) {
		t.Helper()
		got, body := ada.post("/console/admin/vendors/"+path, form)
		for _, text := range texts {
			if got != status || !strings.Contains(body, text) {
				t.Errorf("%s: %d, want %d and %q\n%s", path, got, status, text, body)
			}
		}
	}
	ada.wantPage("/console/admin/vendors/", "No payment vendors yet", "Add a vendor")
	house := url.Values{"code": {"HOUSE"}, "adapter": {"json"}, "base_url": {"http://10.0.0.1/"}, "secret_env": {"VENDOR_HOUSE"}, "settings": {"types=CARD"}}
	told("", house, http.StatusBadRequest, `role="alert"`, `value="http://10.0.0.1/"`, "types=CARD", `value="HOUSE"`)
	house.Set("base_url", "https://pay.example/v1")
	house.Set("settings", "types")
	told("", house, http.StatusBadRequest, "NAME=VALUE")
	house.Set("settings", "\ntypes = CARD\n")
	house.Set("secret_env", "PATH")
	told("", house, http.StatusBadRequest, `role="alert"`)
	house.Set("secret_env", "VENDOR_HOUSE")
	told("", house, http.StatusOK, "Vendor added.", "VENDOR_HOUSE", "types=CARD", "refused by vendor", "does not accept our credential")
	told("", house, http.StatusBadRequest, "Payment vendor HOUSE already exists.")
	told("HOUSE/check/", url.Values{"reference": {"mandate-1"}, "type": {"CARD"}}, http.StatusOK, "the instruction can be used, active, bacs, ending 4321.")
	told("HOUSE/check/", url.Values{"reference": {"nobody"}, "type": {"CARD"}}, http.StatusOK, "The vendor answered: The payment vendor does not know")
	told("HOUSE/check/", url.Values{"reference": {""}, "type": {"CARD"}}, http.StatusBadRequest, "must not be blank")
	verifier = unavailableVendor{}
	told("HOUSE/check/", url.Values{"reference": {"mandate-1"}, "type": {"CARD"}}, http.StatusServiceUnavailable, "The vendor does not respond.", `value="mandate-1"`)
	told("HOUSE/set/", url.Values{"adapter": {"sandbox"}}, http.StatusOK, "Configuration saved.", "<dd>sandbox</dd>")
	told("NOBODY/set/", url.Values{"adapter": {"sandbox"}}, http.StatusNotFound, "There is no payment vendor")
	told("HOUSE/grant/", url.Values{"supplier": {"NORTH"}}, http.StatusOK, "Only granted suppliers can use this vendor.", "Remove access")
	told("HOUSE/revoke/", url.Values{"supplier": {"NORTH"}}, http.StatusOK, "No suppliers. Grant access to one")
	told("HOUSE/open/", nil, http.StatusOK, "All suppliers can use this vendor.")
	told("HOUSE/remove/", url.Values{"confirm": {"house"}}, http.StatusBadRequest, "Type HOUSE to confirm")
	told("HOUSE/remove/", url.Values{"confirm": {"HOUSE"}}, http.StatusOK, "Vendor removed.")
	ada.wantPage("/console/admin/audit/?subject=HOUSE", "vendor.set", "vendor.check", "vendor.grant", "vendor.revoke", "vendor.remove", "operator:ada")
}
