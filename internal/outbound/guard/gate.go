// Package outward is the way out of the service: every call to somebody else's
// server that an operator or a customer named passes through its gate, which
// cannot be talked into dialling private addresses.
package guard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// ConnectLimit is how long a connection and its handshake may take.
const ConnectLimit = 3 * time.Second

// ErrForbidden means that a name leads to an address that may not be dialled.
var ErrForbidden = errors.New("the name leads to an address that is not allowed")

// special are the networks no server of the public internet lives in, after
// the registries of special-purpose addresses, and a metadata service that
// hides behind a public address.
var special = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// global is where every public IPv6 address is; whatever wraps an IPv4 address
// in another prefix is outside.
var global = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Gate dials. It decides on the very address it is about to dial, so a name
// that resolves to another address the next moment gains nothing.
type Gate struct {
	Allowed []netip.Prefix // private networks the operator opened

	// Lookup and Dial are the host's own when nil.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// Admits reports whether an address may be dialled.
func (g *Gate) Admits(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	holds := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.Allowed, holds) {
		return true
	}
	return addr.IsValid() && (addr.Is4() || global.Contains(addr)) && !slices.ContainsFunc(special, holds)
}

// DialContext resolves a name and dials the addresses found, one by one. One
// forbidden address spoils them all: an honest server has none.
func (g *Gate) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	lookup, dial := g.Lookup, g.Dial
	if lookup == nil {
		lookup = net.DefaultResolver.LookupNetIP
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: ConnectLimit, KeepAlive: 30 * time.Second}).DialContext
	}
	addrs, err := lookup(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if !g.Admits(addr) {
			return nil, fmt.Errorf("%w: %s", ErrForbidden, addr)
		}
	}
	err = fmt.Errorf("%s has no address", host)
	for _, addr := range addrs {
		var conn net.Conn
		if conn, err = dial(ctx, network, net.JoinHostPort(addr.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// Transport carries HTTP through the gate, with at most so many connections to
// a host. It uses no proxy from the environment, because the gate could not see
// behind it; roots are the host's own when nil.
func (g *Gate) Transport(mostPerHost int, roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            g.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    ConnectLimit,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConnsPerHost:    8,
		MaxConnsPerHost:        mostPerHost,
		IdleConnTimeout:        time.Minute,
	}
}
