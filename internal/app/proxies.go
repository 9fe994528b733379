package app

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// trustedProxies are the networks whose X-Forwarded-For header is trusted.
type trustedProxies []netip.Prefix

// parseProxies parses a comma-separated list of addresses and networks.
func parseProxies(text string) (trustedProxies, error) {
	var known trustedProxies
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" && text == "" {
			break
		}
		network, err := netip.ParsePrefix(part)
		if err != nil {
			address, failed := netip.ParseAddr(part)
			if failed != nil || address.Zone() != "" {
				return nil, errors.New("want addresses or networks such as 10.0.0.7,192.168.0.0/16 with commas between them")
			}
			network = netip.PrefixFrom(address, address.BitLen())
		}
		known = append(known, network.Masked())
	}
	return known, nil
}

// String returns the networks in the form that parseProxies accepts.
func (p trustedProxies) String() string {
	parts := make([]string, len(p))
	for i, network := range p {
		parts[i] = network.String()
	}
	return strings.Join(parts, ",")
}

// has reports whether an address belongs to a known proxy.
func (p trustedProxies) has(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// client returns the address that a request came from. Any caller can write
// X-Forwarded-For, so it counts only as far as known proxies wrote it. Every
// proxy appends the address it was called from, so the first unknown address from
// the right is the caller, and the caller may have invented everything left of
// it. The Forwarded header is ignored: a proxy that does not support it passes on
// whatever the caller sent.
func (p trustedProxies) client(r *http.Request) netip.Addr {
	address := parsePeer(r.RemoteAddr)
	if len(p) == 0 {
		return address
	}
	lines := r.Header["X-Forwarded-For"]
	for _, line := range slices.Backward(lines) {
		for rest, more := line, true; more; {
			if !p.has(address) {
				return address
			}
			var last string
			rest, last, more = cutLast(rest)
			next := parsePeer(strings.TrimSpace(last))
			if !next.IsValid() {
				return address // the last valid address
			}
			address = next
		}
	}
	return address
}

// forwarded reports whether a request came from a known proxy.
func (p trustedProxies) forwarded(r *http.Request) bool { return p.has(parsePeer(r.RemoteAddr)) }

// encrypted reports whether a request used TLS: to us, or to a known proxy that
// reports it.
func (p trustedProxies) encrypted(r *http.Request) bool {
	return r.TLS != nil || p.forwarded(r) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// cutLast cuts off the part after the last comma of a list.
func cutLast(list string) (rest, last string, more bool) {
	if comma := strings.LastIndexByte(list, ','); comma >= 0 {
		return list[:comma], list[comma+1:], true
	}
	return "", list, false
}

// parsePeer parses an address with or without a port. An IPv4 address that
// arrived on an IPv6 socket is converted to plain IPv4.
func parsePeer(text string) netip.Addr {
	var address netip.Addr
	if strings.HasPrefix(text, "[") || strings.Count(text, ":") == 1 {
		pair, _ := netip.ParseAddrPort(text)
		address = pair.Addr()
	} else {
		address, _ = netip.ParseAddr(text)
	}
	return address.Unmap().WithZone("")
}
