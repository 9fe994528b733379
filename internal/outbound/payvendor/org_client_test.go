package payvendor

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

// TestInvalidReferencesDoNotCountAsVendorFailures guards against a
// regression: a vendor that ignores case, trims or completes references replies
// about another instruction, and ten such replies in a row opened the breaker
// for everyone.
func TestInvalidReferencesDoNotCountAsVendorFailures(t *testing.T) {
	for adapter, instruction := range asked {
		t.Run(adapter, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, acceptedReplies[adapter]) }))
			t.Cleanup(server.Close)
			var alarms atomic.Int64
			verifier := New(Options{Tries: 1, Alarm: func(string, error) { alarms.Add(1) }})
			t.Cleanup(verifier.Close)
			vendor := vendorAt(t, adapter, server.URL)
			for range 10 {
				odd := instruction
				odd.Reference += "x"
				if code := codeOf(t, second(verifier.Verify(t.Context(), "Acme", vendor, odd))); code != landfall.CodeInstructionNotFound {
					t.Fatalf("an oddly spelled reference: %q", code)
				}
			}
			if err := second(verifier.Verify(t.Context(), "Acme", vendor, instruction)); err != nil || alarms.Load() > 0 {
				t.Errorf("afterwards %v, %d alarms", err, alarms.Load())
			}
		})
	}
}

// slowAdapter is an adapter that fails or is slow for some references.
type slowAdapter struct {
	fail  func(ctx context.Context) error
	calls atomic.Int64
	now   atomic.Int64
	most  atomic.Int64
}

func (m *slowAdapter) lookup(ctx context.Context, reference string) (result, error) {
	m.calls.Add(1)
	m.most.Store(max(m.most.Load(), m.now.Add(1)))
	defer m.now.Add(-1)
	if strings.HasPrefix(reference, "odd") {
		return result{types: []string{"CARD"}, active: true}, m.fail(ctx)
	}
	return result{types: []string{"CARD"}, active: true}, nil
}

func slowVerifier(fail func(context.Context) error) (*Verifier, landfall.Vendor, *slowAdapter) {
	verifier, vendor, fake := New(Options{Tries: 1}), landfall.Vendor{Code: "V", Adapter: JSON}, &slowAdapter{fail: fail}
	verifier.clients["V"] = newVendorClient(vendor, verifier.options, &http.Client{Transport: &checkedTransport{}}, fake)
	return verifier, vendor, fake
}

var oddInstruction = landfall.Instruction{Reference: "odd", Type: "CARD"}

func TestVendorFailureAffectsOnlyTheSendingOrganisation(t *testing.T) {
	for name, fail := range map[string]error{
		"failures": down, "broken replies": badReply("x"),
		"asked to stay away": &statusError{status: 429, retryAfter: time.Minute},
	} {
		synctest.Test(t, func(t *testing.T) {
			verifier, vendor, _ := slowVerifier(func(context.Context) error { return fail })
			for range 30 {
				verifier.Verify(t.Context(), "Attacker", vendor, oddInstruction)
			}
			if code := codeOf(t, second(verifier.Verify(t.Context(), "Attacker", vendor, asked[JSON]))); code != landfall.CodeVendorUnavailable {
				t.Errorf("%s: the attacker himself gets %q", name, code)
			}
			if err := second(verifier.Verify(t.Context(), "Neighbour", vendor, asked[JSON])); err != nil {
				t.Errorf("%s: the neighbour gets %v", name, err)
			}
		})
	}
}

func TestSlowVendorLeavesSlotsForOtherOrganisations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		verifier, vendor, fake := slowVerifier(func(ctx context.Context) error { return sleep(ctx, 9*time.Second) })
		var crowd sync.WaitGroup
		var busy atomic.Int64
		began := time.Now()
		for range 200 {
			crowd.Go(func() {
				err := second(verifier.Verify(t.Context(), "Attacker", vendor, oddInstruction))
				if err != nil {
					busy.Add(1)
					if code := codeOf(t, err); code != landfall.CodeVendorUnavailable {
						t.Errorf("a request of the busy organisation gets %q", code)
					}
				}
				if took := time.Since(began); took > 10*time.Second {
					t.Errorf("a request of the busy organisation waited %v", took)
				}
			})
		}
		synctest.Wait()
		for range 50 {
			before := time.Now()
			if err := second(verifier.Verify(t.Context(), "Neighbour", vendor, asked[JSON])); err != nil || time.Since(before) > 0 {
				t.Fatalf("the neighbour gets %v after %v", err, time.Since(before))
			}
		}
		crowd.Wait()
		if most := fake.most.Load(); most > limits.VendorRequestsEach+1 {
			t.Errorf("%d questions were under way at once", most)
		}
		if busy.Load() != 200-limits.VendorRequestsEach {
			t.Errorf("%d of 200 were refused", busy.Load())
		}
		// Not being admitted is not a failure of the vendor.
		if err := second(verifier.Verify(t.Context(), "Attacker", vendor, asked[JSON])); err != nil {
			t.Errorf("afterwards the busy organisation gets %v", err)
		}
	})
}

// TestCallersWhoLeaveReleaseTheirSlots checks that a caller that cancels
// while it waits frees its slot in the queue.
func TestCallersWhoLeaveReleaseTheirSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		verifier, vendor, _ := slowVerifier(func(ctx context.Context) error { return sleep(ctx, 9*time.Second) })
		ctx, leave := context.WithCancel(t.Context())
		var crowd sync.WaitGroup
		for range limits.VendorRequestsEach + limits.VendorRequestsWaiting {
			crowd.Go(func() { verifier.Verify(ctx, "Acme", vendor, oddInstruction) })
		}
		synctest.Wait()
		leave()
		crowd.Wait()
		org := verifier.clients["V"].forOrganisation("Acme")
		if used, waiting := org.requests.Usage(); used != 0 || waiting != 0 {
			t.Errorf("%d questions are still under way, %d wait", used, waiting)
		}
		if err := second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])); err != nil {
			t.Errorf("afterwards %v", err)
		}
	})
}
