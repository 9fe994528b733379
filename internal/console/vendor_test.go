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
	ada := h.signedIn(landfall.ConsoleAdministrator)
	wantPost := func(path string, input url.Values, status int, texts ...string) {
		t.Helper()
		got, body := ada.post("/console/admin/vendors/"+path, input)
		for _, text := range texts {
			if got != status || !strings.Contains(body, text) {
				t.Errorf("%s: %d, want %d and %q\n%s", path, got, status, text, body)
			}
		}
	}
	ada.wantPage("/console/admin/vendors/", "No payment vendors yet", "Add a vendor")
	form := url.Values{"code": {"PAYCO"}, "adapter": {"json"}, "base_url": {"http://10.0.0.1/"}, "secret_env": {"VENDOR_PAYCO"}, "settings": {"types=CARD"}}
	wantPost("", form, http.StatusBadRequest, `role="alert"`, `value="http://10.0.0.1/"`, "types=CARD", `value="PAYCO"`)
	form.Set("base_url", "https://pay.example/v1")
	form.Set("settings", "types")
	wantPost("", form, http.StatusBadRequest, "NAME=VALUE")
	form.Set("settings", "\ntypes = CARD\n")
	form.Set("secret_env", "PATH")
	wantPost("", form, http.StatusBadRequest, `role="alert"`)
	form.Set("secret_env", "VENDOR_PAYCO")
	wantPost("", form, http.StatusOK, "Vendor added.", "VENDOR_PAYCO", "types=CARD", "refused by vendor", "does not accept our credential")
	wantPost("", form, http.StatusBadRequest, "Payment vendor PAYCO already exists.")
	wantPost("PAYCO/check/", url.Values{"reference": {"mandate-1"}, "type": {"CARD"}}, http.StatusOK, "the instruction can be used, active, bacs, ending 4321.")
	wantPost("PAYCO/check/", url.Values{"reference": {"nobody"}, "type": {"CARD"}}, http.StatusOK, "The vendor answered: The payment vendor does not know")
	wantPost("PAYCO/check/", url.Values{"reference": {""}, "type": {"CARD"}}, http.StatusBadRequest, "must not be blank")
	verifier = unavailableVendor{}
	wantPost("PAYCO/check/", url.Values{"reference": {"mandate-1"}, "type": {"CARD"}}, http.StatusServiceUnavailable, "The vendor does not respond.", `value="mandate-1"`)
	wantPost("PAYCO/set/", url.Values{"adapter": {"sandbox"}}, http.StatusOK, "Configuration saved.", "<dd>sandbox</dd>")
	wantPost("NOBODY/set/", url.Values{"adapter": {"sandbox"}}, http.StatusNotFound, "There is no payment vendor")
	wantPost("PAYCO/grant/", url.Values{"supplier": {"NORTH"}}, http.StatusOK, "Only granted suppliers can use this vendor.", "Remove access")
	wantPost("PAYCO/revoke/", url.Values{"supplier": {"NORTH"}}, http.StatusOK, "No suppliers. Grant access to one")
	wantPost("PAYCO/open/", nil, http.StatusOK, "All suppliers can use this vendor.")
	wantPost("PAYCO/remove/", url.Values{"confirm": {"payco"}}, http.StatusBadRequest, "Type PAYCO to confirm")
	wantPost("PAYCO/remove/", url.Values{"confirm": {"PAYCO"}}, http.StatusOK, "Vendor removed.")
	ada.wantPage("/console/admin/audit/?subject=PAYCO", "vendor.set", "vendor.check", "vendor.grant", "vendor.revoke", "vendor.remove", "ada")
}
