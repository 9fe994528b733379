package guard_test

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"testing"
	"time"

	"landfall/internal/outbound/guard"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	for addr, public := range map[string]bool{
		"93.184.216.34": true, "2606:4700::1111": true, "::ffff:8.8.8.8": true,
		"127.0.0.1": false, "10.0.0.1": false, "169.254.169.254": false, "::1": false, "fd00:ec2::254": false,
		"::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "0.0.0.0": false, "fe80::1%eth0": false,
	} {
		dialled := false
		gate := &guard.Dialer{
			Lookup: func(context.Context, string, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr(addr)}, nil
			},
			Dial: func(context.Context, string, string) (net.Conn, error) {
				dialled = true
				return nil, net.ErrClosed
			},
		}
		_, err := gate.DialContext(t.Context(), "tcp", "receiver.example:443")
		if dialled != public || errors.Is(err, guard.ErrForbidden) == public {
			t.Errorf("%s: dialled %v, %v", addr, dialled, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	closed, opened := &guard.Dialer{}, &guard.Dialer{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}
	for _, c := range []struct {
		gate  *guard.Dialer
		text  string
		plain bool
		want  error
	}{
		{closed, "https://receiver.example/hook?tenant=1", false, nil},
		{closed, "http://receiver.example/hook", false, guard.ErrPlain},
		{closed, "http://receiver.example/hook", true, nil},
		{closed, "http://127.0.0.1/hook", true, guard.ErrPrivate},
		{closed, "https://[::ffff:169.254.169.254]/", true, guard.ErrPrivate},
		{opened, "http://127.0.0.1:8000/", false, nil},
		{opened, "http://receiver.example/", false, guard.ErrPlain},
		{closed, "https://ada:pw@receiver.example/", false, guard.ErrUser},
		{closed, "https://receiver.example/#x", false, guard.ErrFragment},
		{closed, "gopher://receiver.example/", true, guard.ErrHTTPS},
		{closed, "receiver.example/hook", true, guard.ErrAddress},
	} {
		if _, err := c.gate.ParseURL(c.text, c.plain); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.text, err, c.want)
		}
	}
}

func TestRetryAfterIsBounded(t *testing.T) {
	for text, want := range map[string]time.Duration{"7": 7 * time.Second, "99999": time.Hour, "-1": 0, "soon": 0, "": 0} {
		if got := guard.RetryAfter(text, time.Hour); got != want {
			t.Errorf("%q is %s, want %s", text, got, want)
		}
	}
}
