package payvendor

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"landfall"
	"landfall/internal/outbound/guard"
)

var quiet = log.New(io.Discard, "", 0)

// scriptedAdapter is an adapter that returns a set result and counts its calls.
type scriptedAdapter struct {
	err   error
	calls int
}

func (s *scriptedAdapter) lookup(context.Context, string) (result, error) {
	s.calls++
	return result{types: []string{"CARD"}, active: true}, s.err
}

// scripted returns a Verifier whose only vendor is a script.
func scripted(options Options) (*Verifier, landfall.Vendor, *scriptedAdapter) {
	verifier, vendor, fake := New(options), landfall.Vendor{Code: "V", Adapter: JSON}, &scriptedAdapter{}
	verifier.clients["V"] = newVendorClient(vendor, verifier.options, &http.Client{Transport: &checkedTransport{}}, fake)
	return verifier, vendor, fake
}

var down = &statusError{status: 503}

// TestBreakerProtectsAFailingVendor keeps querying a vendor that is down.
// Without the breaker every caller would wait for the full time limit, and the
// vendor would be flooded with requests while it recovers.
func TestBreakerProtectsAFailingVendor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var alarms []string
		verifier, vendor, fake := scripted(Options{Tries: 1, Alarm: func(code string, err error) { alarms = append(alarms, code+": "+err.Error()) }})
		fake.err = down
		for range 5 {
			codeOf(t, second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])))
		}
		for range 100 {
			err := second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON]))
			var known *landfall.Error
			if code := codeOf(t, err); code != landfall.CodeVendorUnavailable || !errors.As(err, &known) || known.RetryAfter == 0 {
				t.Fatalf("got %v", err)
			}
		}
		if fake.calls != 5 || len(alarms) != 1 {
			t.Fatalf("%d calls, alarms %q", fake.calls, alarms)
		}
		time.Sleep(31 * time.Second)
		fake.err = nil
		for range 3 {
			if err := second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])); err != nil {
				t.Fatal(err)
			}
		}
		if fake.calls != 8 {
			t.Errorf("%d calls", fake.calls)
		}
	})
}

// TestRefusalsDoNotTripTheBreaker asks for references that a vendor refuses. A
// book with many wrong references must not block requests for correct ones.
func TestRefusalsDoNotTripTheBreaker(t *testing.T) {
	for _, err := range []error{
		errNotFound, guard.ErrForbidden, &statusError{status: 400}, &statusError{status: 401}, &statusError{status: 403},
		&statusError{status: 404}, &statusError{status: 422}, &statusError{status: 429}, context.Canceled,
	} {
		synctest.Test(t, func(t *testing.T) {
			alarms := 0
			verifier, vendor, fake := scripted(Options{Tries: 1, Alarm: func(string, error) { alarms++ }})
			fake.err = err
			for range 100 {
				verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
			}
			if fake.calls != 100 || alarms > 1 {
				t.Errorf("%v: %d of 100 calls reached the vendor, %d alarms", err, fake.calls, alarms)
			}
		})
	}
}

// TestLongFailureIsPermanent waits until an outage counts as persistent. If it
// did so too early, callers would stop retrying and drop instructions that
// could have been verified a minute later.
func TestLongFailureIsPermanent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		verifier, vendor, fake := scripted(Options{Tries: 1})
		fake.err = down
		ask := func() string { return codeOf(t, second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON]))) }
		began := time.Now()
		for range 5 {
			ask()
		}
		for time.Since(began) < 5*time.Minute {
			if code := ask(); code != landfall.CodeVendorUnavailable {
				t.Fatalf("%q after %v", code, time.Since(began))
			}
			time.Sleep(10 * time.Second)
		}
		for range 30 {
			if code := ask(); code != landfall.CodeVendorOutOfService {
				t.Fatalf("%q after %v", code, time.Since(began))
			}
			time.Sleep(10 * time.Second)
		}
		fake.err = nil
		time.Sleep(31 * time.Second)
		if code := ask(); code != "" {
			t.Fatalf("%q after the vendor recovered", code)
		}
		fake.err = down
		if code := ask(); code != landfall.CodeVendorUnavailable {
			t.Errorf("%q: old trouble was not forgotten", code)
		}
	})
}

func TestIdleTimeDoesNotProveAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		verifier, vendor, fake := scripted(Options{Tries: 1})
		fake.err = down
		for range 5 {
			verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
		}
		time.Sleep(8 * time.Hour)
		if code := codeOf(t, second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON]))); code != landfall.CodeVendorUnavailable {
			t.Errorf("got %q", code)
		}
	})
}

func TestRetries(t *testing.T) {
	for _, c := range []struct {
		err   error
		calls int
	}{
		{down, 3}, {badReply("x"), 3}, {errors.New("connection reset"), 3}, {&statusError{status: 429}, 3},
		{&statusError{status: 503, retryAfter: 2 * time.Second}, 3},
		{&statusError{status: 503, retryAfter: 6 * time.Second}, 2}, // the second wait would end after the limit
		{&statusError{status: 429, retryAfter: time.Minute}, 1},
		{errNotFound, 1}, {guard.ErrForbidden, 1}, {&statusError{status: 401}, 1}, {&statusError{status: 302}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			verifier, vendor, fake := scripted(Options{})
			fake.err = c.err
			began := time.Now()
			verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
			if fake.calls != c.calls || time.Since(began) > 10*time.Second {
				t.Errorf("%v: %d calls in %v, want %d", c.err, fake.calls, time.Since(began), c.calls)
			}
		})
	}
}

func TestRetryAfterIsObeyed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		verifier, vendor, fake := scripted(Options{})
		fake.err = &statusError{status: 429, retryAfter: time.Minute}
		verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
		fake.err = nil
		time.Sleep(50 * time.Second)
		err := second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON]))
		var known *landfall.Error
		if code := codeOf(t, err); code != landfall.CodeVendorUnavailable || fake.calls != 1 || !errors.As(err, &known) || known.RetryAfter != 10*time.Second {
			t.Errorf("%v after %d calls", err, fake.calls)
		}
		time.Sleep(11 * time.Second)
		if err := second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])); err != nil || fake.calls != 2 {
			t.Errorf("%v after %d calls", err, fake.calls)
		}
	})
}

// TestNewConfigurationResetsTheBreaker changes the configuration of a failing
// vendor, as an operator does to fix it. The failures of the old configuration
// must not block the new one.
func TestNewConfigurationResetsTheBreaker(t *testing.T) {
	verifier, vendor, fake := scripted(Options{Tries: 1})
	fake.err = down
	for range 6 {
		verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
	}
	vendor.Adapter = Sandbox
	if err := second(verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])); err != nil {
		t.Errorf("the breaker of the old configuration still counts: %v", err)
	}
}

// TestSlowVendors checks that a vendor that is slow in any phase takes at most
// the time limit.
func TestSlowVendors(t *testing.T) {
	sleeper := func(before, between time.Duration) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(before)
			for _, char := range []byte(acceptedReplies[JSON]) {
				w.Write([]byte{char})
				w.(http.Flusher).Flush()
				time.Sleep(between)
			}
		}
	}
	for _, c := range []struct {
		name    string
		connect time.Duration
		serve   http.HandlerFunc
		want    string
	}{
		{"slow, but in time", 0, sleeper(8*time.Second, 0), ""},
		{"first byte", 0, sleeper(time.Minute, 0), landfall.CodeVendorUnavailable},
		{"dripping body", 0, sleeper(0, 900*time.Millisecond), landfall.CodeVendorUnavailable},
		{"connect", time.Minute, sleeper(0, 0), landfall.CodeVendorUnavailable},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("VENDOR_TEST_SECRET", canary)
			vendor := vendorAt(t, JSON, "http://127.0.0.1:80")
			synctest.Test(t, func(t *testing.T) {
				pipes := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
				server := &http.Server{Handler: c.serve, ErrorLog: quiet}
				go server.Serve(pipes)
				verifier := New(Options{})
				verifier.resolve = func(context.Context, string, string) ([]netip.Addr, error) {
					return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
				}
				verifier.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
					if err := sleep(ctx, c.connect); err != nil {
						return nil, err
					}
					return pipes.dial(ctx)
				}
				began := time.Now()
				_, err := verifier.Verify(t.Context(), "Acme", vendor, asked[JSON])
				if code := codeOf(t, err); code != c.want || time.Since(began) > 10*time.Second {
					t.Errorf("code %q, want %q, after %v (%v)", code, c.want, time.Since(began), err)
				}
				verifier.Close()
				server.Close()
				time.Sleep(5 * time.Minute) // until the handlers have written everything
			})
		})
	}
}

// pipeListener is a net.Listener without a network.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-p.conns:
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipeListener) Close() error   { p.once.Do(func() { close(p.closed) }); return nil }
func (p *pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (p *pipeListener) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return ours, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// TestSandbox tries every word that the sandbox understands. It is the only way
// for integrators to test how they handle each reply.
func TestSandbox(t *testing.T) {
	vendor := landfall.Vendor{Code: "SANDBOX", Adapter: Sandbox}
	for reference, want := range map[string]string{
		"anything": "", "NOT_FOUNDLING": "", "SLOWLY": "", "slow-1": "",
		"NOT_FOUND": landfall.CodeInstructionNotFound, "not-found-17": landfall.CodeInstructionNotFound,
		"TYPE_MISMATCH_1": landfall.CodeInstructionTypeMismatch, "INACTIVE-2": landfall.CodeInstructionInactive,
		"REJECTED": landfall.CodeVendorRejected, "UNAVAILABLE_3": landfall.CodeVendorUnavailable,
		"OUT_OF_SERVICE": landfall.CodeVendorOutOfService, "TIMEOUT": landfall.CodeVendorUnavailable,
	} {
		synctest.Test(t, func(t *testing.T) {
			verifier := New(Options{})
			for kind := range landfall.InstructionTypes {
				for range 7 { // no reply may depend on earlier ones
					began := time.Now()
					got, err := verifier.Verify(t.Context(), "Acme", vendor, landfall.Instruction{Reference: reference, Type: landfall.InstructionTypes[kind]})
					if code := codeOf(t, err); code != want || time.Since(began) > 10*time.Second {
						t.Errorf("%s: %q, want %q", reference, code, want)
					}
					if want == "" && (len(got.LastDigits) != 4 || got.Status != "active") {
						t.Errorf("%s: %+v", reference, got)
					}
				}
			}
			verifier.Close()
		})
	}
}

func second[T any](_ T, err error) error { return err }
