package console

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/service/intake"
	"landfall/internal/service/operate"
)

// unavailableVendor is a vendor that does not respond.
type unavailableVendor struct{}

func (unavailableVendor) Verify(context.Context, string, landfall.Vendor, landfall.Instruction) (landfall.InstructionDetails, error) {
	return landfall.InstructionDetails{}, &landfall.Error{Kind: landfall.UpstreamUnavailable, Code: landfall.CodeVendorUnavailable, Detail: "The vendor does not respond."}
}

func TestOperatorsCreateAccounts(t *testing.T) {
	h := newTestConsole(t)
	seedAccounts(h)
	h.console.Intake = intake.New(h.store, intake.Options{Verifier: unavailableVendor{}})
	if err := h.operator().SetVendor(t.Context(), landfall.Vendor{Code: "V", Adapter: "sandbox"}); err != nil {
		t.Fatal(err)
	}
	for external, rest := range map[string]string{"5": "", "6": "", "7": `,"payment_instructions":[{"vendor":"V","reference":"r1","type":"CARD"}]`} {
		body := fmt.Appendf(nil, `{"import_supplier":"NORTH","external_account_number":%q,"customers":[{}]%s}`, external, rest)
		if _, err := h.console.Intake.Stage(t.Context(), landfall.Principal{}, body); err != nil {
			t.Fatal(err)
		}
	}
	ada := h.signedIn(landfall.ConsoleAdministrator)
	const path = "/console/accounts/NORTH/"
	team, sure := url.Values{"team": {"Movers"}}, url.Values{"team": {"Movers"}, "confirm": {"yes"}}
	wantPost := func(name string, form url.Values, status int, texts ...string) {
		t.Helper()
		got, body := ada.post(path+name+"/", form)
		for _, text := range texts {
			if got != status || !strings.Contains(body, text) {
				t.Errorf("%s: %d, want %d and %q\n%s", name, got, status, text, body)
			}
		}
		ada.wantEscaped(name, body)
	}
	ada.wantPage(path+"5/", "Dry run</button>", "Create account</button>", "<option>Movers</option>", "You can undo it for 3 days.")
	wantPost("5/dry-run", team, http.StatusOK, "Dry run passed: the account can be created.", `data-name="Event">Dry run passed<`, `class="quiet">ada<`, "Create account</button>")
	wantPost("5/process", team, http.StatusBadRequest, "Check the box to confirm", `<details class="action" open>`, "<option selected>Movers")
	wantPost("5/process", url.Values{"team": {"Nobody"}, "confirm": {"yes"}}, http.StatusBadRequest, "There is no operations team with this name.", `role="alert"`)
	wantPost("5/process", sure, http.StatusOK, " created for Movers.", "Account created: A-", `class="quiet">ada<`, "Undo this account")
	wantPost("5/process", sure, http.StatusBadRequest, "This account has already been imported.", `role="alert"`)
	wantPost("7/process", sure, http.StatusServiceUnavailable, "The vendor does not respond.", `role="alert"`, "payment_vendor_unavailable", `class="quiet">ada<`)
	// The account and its page keep the errors in the data.
	wantPost("3/dry-run", team, http.StatusBadRequest, "The account data is not valid.", `role="alert"`, "(dry run)", "import_supplier", `data-name="Event">Dry run failed<`)
	wantPost("3/process", sure, http.StatusBadRequest, "Attempt to create the account failed", `class="quiet">ada<`)
	wantPost("4/process", sure, http.StatusBadRequest, "marked to be skipped")
	wantPost("nobody/dry-run", team, http.StatusNotFound, "was ever staged")
	paused := landfall.Paused
	if _, err := h.operator().SetSupplier(t.Context(), "NORTH", operate.SupplierChange{Status: &paused}); err != nil {
		t.Fatal(err)
	}
	wantPost("6/process", sure, http.StatusBadRequest, "is paused or complete", "staged")
	sam := h.signedIn(landfall.ConsoleSupport)
	if body := sam.wantPage(path+"6/", "Reveal personal data"); strings.Contains(body, "Dry run") || strings.Contains(body, "Create account") {
		t.Error("support is offered to create accounts")
	}
	for _, act := range []string{"dry-run", "process"} {
		if status, _ := sam.post(path+"6/"+act+"/", sure); status != http.StatusForbidden {
			t.Errorf("support does a %s: %d", act, status)
		}
	}
}
