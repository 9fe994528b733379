package payvendor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

const connectLimit = 3 * time.Second

// special are the networks no vendor of the public internet lives in, after
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

// gate dials vendors. It decides on the very address it is about to dial, so a
// name that resolves to another address the next moment gains nothing.
type gate struct {
	allowed []netip.Prefix // private networks the operator opened for this vendor
	lookup  func(ctx context.Context, network, host string) ([]netip.Addr, error)
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// admits reports whether an address may be dialled.
func (g *gate) admits(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	holds := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.allowed, holds) {
		return true
	}
	return addr.IsValid() && (addr.Is4() || global.Contains(addr)) && !slices.ContainsFunc(special, holds)
}

// DialContext resolves a name and dials the addresses found, one by one. One
// forbidden address spoils them all: an honest vendor has none.
func (g *gate) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := g.lookup(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if !g.admits(addr) {
			return nil, fmt.Errorf("%w: %s", errForbidden, addr)
		}
	}
	err = fmt.Errorf("%s has no address", host)
	for _, addr := range addrs {
		var conn net.Conn
		if conn, err = g.dial(ctx, network, net.JoinHostPort(addr.Unmap().String(), port)); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// client makes the HTTP client of one vendor. It uses no proxy from the
// environment, because the gate could not see behind it.
func (d *Desk) client(allowed []netip.Prefix) *http.Client {
	gate := &gate{allowed: allowed, lookup: d.lookup, dial: d.dial}
	return &http.Client{
		Transport: &courier{next: &http.Transport{
			DialContext:            gate.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: d.roots},
			TLSHandshakeTimeout:    connectLimit,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: 64 << 10,
			MaxIdleConnsPerHost:    8,
			MaxConnsPerHost:        mostAtOnce,
			IdleConnTimeout:        time.Minute,
		}},
	}
}
