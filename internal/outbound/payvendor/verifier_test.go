package payvendor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/test/tooltest"
)

const canary = "sk_test_CANARY8471"

// vendorAt returns a vendor with an adapter, at a server on this machine.
func vendorAt(t *testing.T, adapter, base string) landfall.Vendor {
	t.Helper()
	t.Setenv("VENDOR_TEST_SECRET", canary)
	vendor := landfall.Vendor{Code: "V", Adapter: adapter, BaseURL: base, SecretEnv: "VENDOR_TEST_SECRET",
		Networks: []string{"127.0.0.0/8"}, Settings: map[string]string{}}
	if adapter == JSON {
		vendor.Settings = map[string]string{
			"path": "/instructions/{reference}", "status_pointer": "/status", "type_pointer": "/kind",
			"type_map": "card=CARD,dd=DIRECT_DEBIT", "digits_pointer": "/number", "expiry_pointer": "/expires", "scheme_pointer": "/scheme",
		}
	}
	return vendor
}

// codeOf returns the code of an error. It fails the test if anything that is
// shown or logged contains a secret or text of the reply.
func codeOf(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", err), fmt.Sprintf("%#v", err)} {
		if strings.Contains(text, "CANARY") {
			t.Errorf("a secret or a reply is in the error: %s", text)
		}
	}
	var known *landfall.Error
	if !errors.As(err, &known) {
		t.Fatalf("not an Error: %T %v", err, err)
	}
	if strings.Contains(known.Detail, "CANARY") {
		t.Errorf("a secret is in the detail: %s", known.Detail)
	}
	wantKind := landfall.Invalid
	if known.Code == landfall.CodeVendorUnavailable {
		wantKind = landfall.UpstreamUnavailable
	}
	if known.Kind != wantKind {
		t.Errorf("%s has kind %d, want %d", known.Code, known.Kind, wantKind)
	}
	return known.Code
}

// TestStripeMock queries Stripe's own mock server, which verifies our
// assumptions about Stripe's replies.
func TestStripeMock(t *testing.T) {
	binary := tooltest.Go(t, "github.com/stripe/stripe-mock", "v0.203.0")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	server := exec.Command(binary, "-http-addr", address)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Process.Kill(); server.Wait() })
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("stripe-mock does not listen")
		}
	}
	verifier := New(Options{})
	t.Cleanup(verifier.Close)
	vendor := vendorAt(t, Stripe, "http://"+address)
	strict := vendor
	strict.Code, strict.Settings = "STRICT", map[string]string{"require_customer": "true"}

	for _, c := range []struct {
		name            string
		vendor          landfall.Vendor
		reference, kind string
		want            landfall.InstructionDetails
		code            string
	}{
		{"a card", vendor, "pm_1Nv0FGQ9RKHgCVdK", "CARD",
			landfall.InstructionDetails{Status: "unattached", Scheme: "visa", LastDigits: "4242", Expiry: "2030-08"}, ""},
		{"a card from before payment methods", vendor, "card_1Nv0FGQ9RKHgCVdK", "CARD",
			landfall.InstructionDetails{Status: "unattached", Scheme: "visa", LastDigits: "4242", Expiry: "2030-08"}, ""},
		{"a card claimed to be a debit", vendor, "pm_1Nv0FGQ9RKHgCVdK", "DIRECT_DEBIT", landfall.InstructionDetails{}, landfall.CodeInstructionTypeMismatch},
		{"a mandate", vendor, "mandate_1MvojA2eZvKYlo2C", "DIRECT_DEBIT",
			landfall.InstructionDetails{Status: "active", Scheme: "sepa_debit", LastDigits: "4242", Expiry: "2030-08"}, ""},
		{"a customer instead of a method", vendor, "cus_123", "CARD", landfall.InstructionDetails{}, landfall.CodeInstructionNotFound},
		{"a card nobody owns, with an operator who minds", strict, "pm_1", "CARD", landfall.InstructionDetails{}, landfall.CodeInstructionInactive},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := verifier.Verify(t.Context(), "Acme", c.vendor, landfall.Instruction{Reference: c.reference, Type: c.kind})
			if code := codeOf(t, err); code != c.code {
				t.Fatalf("code %q, want %q (%v)", code, c.code, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("a key it does not like", func(t *testing.T) {
		t.Setenv("VENDOR_TEST_SECRET", "CANARY_no_key") // stripe-mock quotes it in its reply
		other := vendor
		other.Code = "OTHER"
		_, err := verifier.Verify(t.Context(), "Acme", other, landfall.Instruction{Reference: "pm_1", Type: "CARD"})
		if code := codeOf(t, err); code != landfall.CodeVendorRejected {
			t.Errorf("code %q", code)
		}
	})
}

// acceptedReplies are replies that the three adapters accept for the instructions in
// asked.
var acceptedReplies = map[string]string{
	Stripe:     `{"id":"pm_1","object":"payment_method","type":"card","customer":"cus_1","card":{"brand":"visa","last4":"4242","exp_month":8,"exp_year":2031}}`,
	GoCardless: `{"mandates":{"id":"MD1","status":"active","scheme":"bacs","links":{"customer_bank_account":"BA1"}}}`,
	JSON:       `{"id":"R1","status":"active","kind":"card","scheme":"visa","number":"4111 1111 1111 1111","expires":"08/31"}`,
}

var asked = map[string]landfall.Instruction{
	Stripe:     {Reference: "pm_1", Type: "CARD"},
	GoCardless: {Reference: "MD1", Type: "DIRECT_DEBIT"},
	JSON:       {Reference: "R1", Type: "CARD"},
}

// TestReplies gives each adapter every kind of reply. With the wrong code,
// callers would retry requests that never succeed, or drop instructions that a
// retry would verify.
func TestReplies(t *testing.T) {
	unavailable, rejected, missing := landfall.CodeVendorUnavailable, landfall.CodeVendorRejected, landfall.CodeInstructionNotFound
	reply := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); fmt.Fprint(w, body) }
	}
	ownMissing := `{"error":{"message":"No such thing, CANARY","type":"invalid_request_error","code":"resource_missing"}}`
	for _, c := range []struct {
		name  string
		serve func(adapter string) http.HandlerFunc
		want  map[string]string // by adapter; "" for all others
	}{
		{"good", func(a string) http.HandlerFunc { return reply(200, acceptedReplies[a]) }, map[string]string{"": ""}},
		{"own 404", func(string) http.HandlerFunc { return reply(404, ownMissing) }, map[string]string{"": missing}},
		{"404 of a web server", func(string) http.HandlerFunc { return reply(404, "<html>CANARY") }, map[string]string{"": unavailable, JSON: missing}},
		{"410", func(string) http.HandlerFunc { return reply(410, "{}") }, map[string]string{"": rejected, JSON: missing}},
		{"400", func(string) http.HandlerFunc { return reply(400, ownMissing) }, map[string]string{"": rejected}},
		{"401", func(string) http.HandlerFunc { return reply(401, ownMissing) }, map[string]string{"": rejected}},
		{"403", func(string) http.HandlerFunc { return reply(403, ownMissing) }, map[string]string{"": rejected}},
		{"422", func(string) http.HandlerFunc { return reply(422, ownMissing) }, map[string]string{"": rejected}},
		{"429", func(string) http.HandlerFunc { return reply(429, ownMissing) }, map[string]string{"": unavailable}},
		{"500", func(string) http.HandlerFunc { return reply(500, ownMissing) }, map[string]string{"": unavailable}},
		{"502", func(string) http.HandlerFunc { return reply(502, "CANARY") }, map[string]string{"": unavailable}},
		{"503", func(string) http.HandlerFunc { return reply(503, "") }, map[string]string{"": unavailable}},
		{"HTML 200", func(string) http.HandlerFunc { return reply(200, "<html>CANARY</html>") }, map[string]string{"": unavailable}},
		{"empty 200", func(string) http.HandlerFunc { return reply(200, "") }, map[string]string{"": unavailable}},
		{"204", func(string) http.HandlerFunc { return reply(204, "") }, map[string]string{"": unavailable}},
		{"null", func(string) http.HandlerFunc { return reply(200, "null") }, map[string]string{"": unavailable}},
		{"half", func(a string) http.HandlerFunc { return reply(200, acceptedReplies[a][:len(acceptedReplies[a])/2]) }, map[string]string{"": unavailable}},
		{"two values", func(a string) http.HandlerFunc { return reply(200, acceptedReplies[a]+acceptedReplies[a]) }, map[string]string{"": unavailable}},
		{"a key twice", func(a string) http.HandlerFunc {
			return reply(200, strings.Replace(acceptedReplies[a], `"id"`, `"id":"CANARY","id"`, 1))
		}, map[string]string{"": unavailable}},
		{"another id", func(a string) http.HandlerFunc {
			return reply(200, strings.Replace(acceptedReplies[a], `1",`, `2",`, 1))
		}, map[string]string{"": missing}},
		{"an id in other case", func(a string) http.HandlerFunc {
			return reply(200, strings.Replace(acceptedReplies[a], `"id"`, `"ID"`, 1))
		}, map[string]string{"": unavailable, Stripe: ""}}, // the library ignores case; the value is still compared
		{"id of another shape", func(a string) http.HandlerFunc {
			return reply(200, strings.Replace(acceptedReplies[a], `"id":"`, `"id":["CANARY"],"x":"`, 1))
		}, map[string]string{"": unavailable}},
		{"bad UTF-8", func(a string) http.HandlerFunc {
			return reply(200, strings.Replace(acceptedReplies[a], "active", "act\xffive", 1)+"\xff")
		}, map[string]string{"": unavailable}},
		{"bottomless", func(string) http.HandlerFunc {
			return reply(200, strings.Repeat("[", 5000)+strings.Repeat("]", 5000))
		}, map[string]string{"": unavailable}},
		{"compressed unasked", func(a string) http.HandlerFunc {
			return func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", "gzip")
				fmt.Fprint(w, acceptedReplies[a])
			}
		}, map[string]string{"": unavailable}},
		{"endless", func(string) http.HandlerFunc {
			return func(w http.ResponseWriter, r *http.Request) {
				for r.Context().Err() == nil {
					if _, err := w.Write(make([]byte, 1<<16)); err != nil {
						return
					}
				}
			}
		}, map[string]string{"": unavailable}},
		{"hang up", func(string) http.HandlerFunc {
			return func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }
		}, map[string]string{"": unavailable}},
	} {
		for adapter, instruction := range asked {
			t.Run(c.name+"/"+adapter, func(t *testing.T) {
				server := httptest.NewServer(c.serve(adapter))
				t.Cleanup(server.Close)
				verifier := New(Options{Tries: 1})
				t.Cleanup(verifier.Close)
				want, ok := c.want[adapter]
				if !ok {
					want = c.want[""]
				}
				_, err := verifier.Verify(t.Context(), "Acme", vendorAt(t, adapter, server.URL), instruction)
				if code := codeOf(t, err); code != want {
					t.Errorf("code %q, want %q (%v)", code, want, err)
				}
			})
		}
	}
}

// TestStoredDetails checks what is stored of a reply. A whole card number is never
// stored, wherever the vendor sends it.
func TestStoredDetails(t *testing.T) {
	for _, c := range []struct {
		name, adapter, body string
		kind                string
		want                landfall.InstructionDetails
		code                string
	}{
		{"stripe card", Stripe, acceptedReplies[Stripe], "CARD", landfall.InstructionDetails{Status: "attached", Scheme: "visa", LastDigits: "4242", Expiry: "2031-08"}, ""},
		{"stripe wallet", Stripe, `{"id":"pm_1","object":"payment_method","type":"paypal"}`, "CARD", landfall.InstructionDetails{}, landfall.CodeInstructionTypeMismatch},
		{"gocardless", GoCardless, acceptedReplies[GoCardless], "DIRECT_DEBIT", landfall.InstructionDetails{Status: "active", Scheme: "bacs", LastDigits: "11"}, ""},
		{"gocardless cancelled", GoCardless, strings.Replace(acceptedReplies[GoCardless], "active", "cancelled", 1), "DIRECT_DEBIT", landfall.InstructionDetails{}, landfall.CodeInstructionInactive},
		{"gocardless pending", GoCardless, strings.Replace(acceptedReplies[GoCardless], "active", "pending_submission", 1), "DIRECT_DEBIT", landfall.InstructionDetails{Status: "pending_submission", Scheme: "bacs", LastDigits: "11"}, ""},
		{"gocardless is never a card", GoCardless, acceptedReplies[GoCardless], "CARD", landfall.InstructionDetails{}, landfall.CodeInstructionTypeMismatch},
		{"a whole card number is cut", JSON, acceptedReplies[JSON], "CARD", landfall.InstructionDetails{Status: "active", Scheme: "visa", LastDigits: "1111", Expiry: "2031-08"}, ""},
		{"a card number where a word belongs", JSON, strings.Replace(acceptedReplies[JSON], `"visa"`, `"4111-1111-1111-1111"`, 1), "CARD", landfall.InstructionDetails{Status: "active", LastDigits: "1111", Expiry: "2031-08"}, ""},
		{"unknown kind", JSON, strings.Replace(acceptedReplies[JSON], `"card"`, `"voucher"`, 1), "CARD", landfall.InstructionDetails{}, landfall.CodeInstructionTypeMismatch},
		{"ended", JSON, strings.Replace(acceptedReplies[JSON], `"active"`, `"ended"`, 1), "CARD", landfall.InstructionDetails{}, landfall.CodeInstructionInactive},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if got := r.Header.Get("Authorization"); got != "Bearer "+canary {
					t.Errorf("Authorization was %q", got)
				}
				if r.URL.Path == "/customer_bank_accounts/BA1" {
					fmt.Fprint(w, `{"customer_bank_accounts":{"id":"BA1","account_number_ending":"11"}}`)
					return
				}
				fmt.Fprint(w, c.body)
			}))
			t.Cleanup(server.Close)
			verifier := New(Options{Tries: 1})
			t.Cleanup(verifier.Close)
			got, err := verifier.Verify(t.Context(), "Acme", vendorAt(t, c.adapter, server.URL), landfall.Instruction{Reference: asked[c.adapter].Reference, Type: c.kind})
			if code := codeOf(t, err); code != c.code {
				t.Fatalf("code %q, want %q (%v)", code, c.code, err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestCallerDisconnects cancels a call while the vendor is silent. That must not
// count as a failure of the vendor.
func TestCallerDisconnects(t *testing.T) {
	entered := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		close(entered)
		<-r.Context().Done()
	}))
	t.Cleanup(server.Close)
	verifier := New(Options{})
	t.Cleanup(verifier.Close)
	vendor := vendorAt(t, JSON, server.URL)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-entered; cancel() }()
	if _, err := verifier.Verify(ctx, "Acme", vendor, asked[JSON]); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
