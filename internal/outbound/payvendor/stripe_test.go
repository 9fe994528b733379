package payvendor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall"
)

// TestStripeRequests checks what we send to Stripe and that a mandate is read with and
// without its payment method.
func TestStripeRequests(t *testing.T) {
	for name, c := range map[string]struct {
		reference, path, query, body string
		want                         landfall.InstructionDetails
	}{
		"method": {"pm_1", "/v1/payment_methods/pm_1", "", `{"id":"pm_1","object":"payment_method","type":"bacs_debit","customer":{"id":"cus_1"},"bacs_debit":{"last4":"2345"}}`,
			landfall.InstructionDetails{Status: "attached", Scheme: "bacs_debit", LastDigits: "2345"}},
		"mandate": {"mandate_1", "/v1/mandates/mandate_1", "expand[0]=payment_method",
			`{"id":"mandate_1","object":"mandate","status":"pending","payment_method_details":{"type":"sepa_debit"},"payment_method":{"id":"pm_1","sepa_debit":{"last4":"3000"}}}`,
			landfall.InstructionDetails{Status: "pending", Scheme: "sepa_debit", LastDigits: "3000"}},
		"mandate, not expanded": {"mandate_1", "/v1/mandates/mandate_1", "expand[0]=payment_method",
			`{"id":"mandate_1","object":"mandate","status":"active","payment_method_details":{"type":"us_bank_account"},"payment_method":"pm_1"}`,
			landfall.InstructionDetails{Status: "active", Scheme: "us_bank_account"}},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != c.path || r.URL.RawQuery != c.query {
					t.Errorf("%s %s", r.Method, r.URL)
				}
				for header, want := range map[string]string{"Authorization": "Bearer " + canary, "Stripe-Version": stripeVersion, "Stripe-Account": "acct_1"} {
					if got := r.Header.Get(header); got != want {
						t.Errorf("%s is %q, want %q", header, got, want)
					}
				}
				fmt.Fprint(w, c.body)
			}))
			t.Cleanup(server.Close)
			verifier := New(Options{Tries: 1})
			t.Cleanup(verifier.Close)
			vendor := vendorAt(t, Stripe, server.URL)
			vendor.Settings["account"] = "acct_1"
			got, err := verifier.Verify(t.Context(), "Acme", vendor, landfall.Instruction{Reference: c.reference, Type: landfall.DirectDebit})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
