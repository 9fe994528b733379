// Package guard protects calls to servers whose URLs an operator or a customer
// configured. Its dialer refuses private addresses, which prevents server-side request
// forgery.
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

	"landfall/internal/lib/limits"
)

// ConnectTimeout limits the connection and the TLS handshake.
const ConnectTimeout = limits.OutboundConnect

// ErrForbidden means that a name resolves to an address that is not allowed.
var ErrForbidden = errors.New("the name resolves to an address that is not allowed")

// specialNetworks are the networks without public servers, from the IANA registries of
// special-purpose addresses, and the metadata service that has a public address.
var specialNetworks = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
	"192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
	"198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3", "168.63.129.16/32",
	"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
)

// globalIPv6 contains all public IPv6 addresses. It does not contain IPv4
// addresses wrapped in IPv6.
var globalIPv6 = netip.MustParsePrefix("2000::/3")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// Dialer connects to allowed addresses. It checks the address that it dials, so DNS
// rebinding does not work.
type Dialer struct {
	Allowed []netip.Prefix // private networks that the operator allows

	// Lookup and Dial default to those of package net.
	Lookup func(ctx context.Context, network, host string) ([]netip.Addr, error)
	Dial   func(ctx context.Context, network, address string) (net.Conn, error)
}

// Allows reports whether an address may be dialled.
func (g *Dialer) Allows(addr netip.Addr) bool {
	addr = addr.Unmap().WithZone("")
	holds := func(p netip.Prefix) bool { return p.Contains(addr) }
	if slices.ContainsFunc(g.Allowed, holds) {
		return true
	}
	return addr.IsValid() && (addr.Is4() || globalIPv6.Contains(addr)) && !slices.ContainsFunc(specialNetworks, holds)
}

// DialContext resolves a name and dials its addresses one by one. It fails if any of them
// is forbidden.
func (g *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	lookup, dial := g.Lookup, g.Dial
	if lookup == nil {
		lookup = net.DefaultResolver.LookupNetIP
	}
	if dial == nil {
		dial = (&net.Dialer{Timeout: ConnectTimeout, KeepAlive: limits.OutboundKeepAlive}).DialContext
	}
	addrs, err := lookup(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	for _, addr := range addrs {
		if !g.Allows(addr) {
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

// Transport returns an HTTP transport with a limit on the connections per host. It ignores
// proxy settings of the environment, because the dialer could not check the addresses
// behind a proxy. When roots is nil, it uses the system's.
func (g *Dialer) Transport(maxPerHost int, roots *x509.CertPool) *http.Transport {
	return &http.Transport{
		DialContext:            g.DialContext,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: roots},
		TLSHandshakeTimeout:    ConnectTimeout,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: limits.OutboundHeader,
		MaxIdleConnsPerHost:    8,
		MaxConnsPerHost:        maxPerHost,
		IdleConnTimeout:        limits.OutboundIdle,
	}
}
