package app

import (
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are the networks whose word about a caller's address is believed.
type proxies []netip.Prefix

// parseProxies reads addresses and networks with commas between them.
func parseProxies(text string) (proxies, error) {
	var known proxies
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

// String writes networks as they are read.
func (p proxies) String() string {
	parts := make([]string, len(p))
	for i, network := range p {
		parts[i] = network.String()
	}
	return strings.Join(parts, ",")
}

// has says whether an address is one of theirs.
func (p proxies) has(address netip.Addr) bool {
	for _, network := range p {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

// client gives the address a request came from. Anybody can write
// X-Forwarded-For, so it counts only as far as known proxies wrote it: every
// proxy adds the address it was called from at the end, so the first stranger
// from the right is the caller, and what stands left of it is its own
// invention. The Forwarded header is not read at all: a proxy that knows
// nothing of it passes on whatever the caller put there.
func (p proxies) client(r *http.Request) netip.Addr {
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
				return address // the proxy nearest to us that made sense
			}
			address = next
		}
	}
	return address
}

// encrypted says whether a request came by TLS: to us, or to a known proxy that
// says so.
func (p proxies) encrypted(r *http.Request) bool {
	return r.TLS != nil || p.has(parsePeer(r.RemoteAddr)) && r.Header.Get("X-Forwarded-Proto") == "https"
}

// cutLast takes the part behind the last comma off a list.
func cutLast(list string) (rest, last string, more bool) {
	if comma := strings.LastIndexByte(list, ','); comma >= 0 {
		return list[:comma], list[comma+1:], true
	}
	return "", list, false
}

// parsePeer reads an address with or without a port. An IPv4 address that came in
// through an IPv6 socket is the same caller as without.
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
