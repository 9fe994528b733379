package payvendor

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"landfall"
)

func TestReferenceIsOneSegment(t *testing.T) {
	var seen []string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /instructions/{reference}", func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.PathValue("reference"))
		w.WriteHeader(http.StatusNotFound)
	})
	mux.HandleFunc("/", func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%q left its segment", r.URL) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	verifier := New(Options{Tries: 1})
	t.Cleanup(verifier.Close)
	vendor := vendorAt(t, JSON, server.URL)
	for _, reference := range []string{
		"plain", "../../x?y#z", "a/b", "a/../../b", `..\..\x`, "%2e%2e%2f", "%00", "a b+c&d=e;f", "ünïcödé", "日本", "@host/", "//host", ":80", "?", "#", "{reference}", "..a",
	} {
		seen = nil
		_, err := verifier.Verify(t.Context(), "Acme", vendor, landfall.Instruction{Reference: reference, Type: "CARD"})
		if code := codeOf(t, err); code != landfall.CodeInstructionNotFound {
			t.Errorf("%q: %v", reference, err)
		}
		if !cmp.Equal(seen, []string{reference}) {
			t.Errorf("%q was seen as %q", reference, seen)
		}
	}
	for _, reference := range []string{"", ".", "..", "...", "a\r\nX-Evil: 1", "a\x00", "\u0085", "bad\xff", strings.Repeat("x", 10_000)} {
		seen = nil
		_, err := verifier.Verify(t.Context(), "Acme", vendor, landfall.Instruction{Reference: reference, Type: "CARD"})
		if code := codeOf(t, err); code != landfall.CodeInstructionNotFound || seen != nil {
			t.Errorf("%q: %v, seen %q", reference, err, seen)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("the credential went elsewhere: %v", r.URL)
	}))
	t.Cleanup(elsewhere.Close)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for adapter, instruction := range asked {
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				calls++
				http.Redirect(w, r, elsewhere.URL, status)
			}))
			verifier := New(Options{})
			_, err := verifier.Verify(t.Context(), "Acme", vendorAt(t, adapter, server.URL), instruction)
			if code := codeOf(t, err); code != landfall.CodeVendorUnavailable || calls != 1 {
				t.Errorf("%s %d: %v after %d calls", adapter, status, err, calls)
			}
			verifier.Close()
			server.Close()
		}
	}
}

// TestReferenceIsNotInTheError checks that errors do not contain the reference,
// which can identify a customer and would be logged.
func TestReferenceIsNotInTheError(t *testing.T) {
	verifier := New(Options{Tries: 1})
	t.Cleanup(verifier.Close)
	for adapter, reference := range map[string]string{Stripe: "pm_CANARY", GoCardless: "CANARY", JSON: "CANARY"} {
		vendor := vendorAt(t, adapter, "http://127.0.0.1:1")
		vendor.Code = adapter
		_, err := verifier.Verify(t.Context(), "Acme", vendor, landfall.Instruction{Reference: reference, Type: "CARD"})
		if code := codeOf(t, err); code != landfall.CodeVendorUnavailable {
			t.Errorf("%s: %v", adapter, err)
		}
	}
}

// TestNothingOnStandardError checks that libraries do not write failures to
// standard error.
func TestNothingOnStandardError(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := os.Stderr
	os.Stderr = file
	defer func() { os.Stderr = before }()
	for _, status := range []int{200, 401, 404, 500} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, `{"id":["CANARY"]}`)
		}))
		verifier := New(Options{Tries: 1})
		for adapter, instruction := range asked {
			vendor := vendorAt(t, adapter, server.URL)
			vendor.Code = adapter
			verifier.Verify(t.Context(), "Acme", vendor, instruction)
		}
		verifier.Close()
		server.Close()
	}
	if written, err := os.ReadFile(file.Name()); err != nil || len(written) != 0 {
		t.Errorf("written: %q (%v)", written, err)
	}
}

func TestSecretIsReadWhenNeeded(t *testing.T) {
	alarms := 0
	verifier := New(Options{Tries: 1, Alarm: func(string, error) { alarms++ }})
	t.Cleanup(verifier.Close)
	vendor := vendorAt(t, Stripe, "http://127.0.0.1:1")
	for _, secret := range []string{"", "  ", "CANARY\nX-Evil: 1", "CANARY ü"} {
		t.Setenv("VENDOR_TEST_SECRET", secret)
		_, err := verifier.Verify(t.Context(), "Acme", vendor, asked[Stripe])
		if code := codeOf(t, err); code != landfall.CodeVendorRejected {
			t.Errorf("%q: %v", secret, err)
		}
	}
	if alarms != 1 {
		t.Errorf("%d alarms for one fault", alarms)
	}
	t.Setenv("VENDOR_TEST_SECRET", canary)
	if code := codeOf(t, second(verifier.Verify(t.Context(), "Acme", vendor, asked[Stripe]))); code != landfall.CodeVendorUnavailable {
		t.Errorf("%q once the secret is there", code)
	}
}
