package guard

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"
)

// What is wrong with an address, for whoever named it. None repeats it: it may
// hold a password.
var (
	ErrAddress  = errors.New("it is an address like https://api.example.com/v1")
	ErrUser     = errors.New("no user name or password belongs in it")
	ErrFragment = errors.New("it has no fragment")
	ErrHTTPS    = errors.New("it must be https")
	ErrPlain    = errors.New("it must be https; plain http is only for a loopback address that is allowed")
	ErrPrivate  = errors.New("its address is private and not allowed")
)

var loopback = prefixes("127.0.0.0/8", "::1/128")

// Address reads where a server is: https, or plain http where that is wanted
// and to this very machine when it was opened. A literal address is judged
// here; a name only when it is dialled.
func (g *Gate) Address(text string, plain bool) (*url.URL, error) {
	address, err := url.Parse(text)
	if err != nil || address.Hostname() == "" || address.Opaque != "" {
		return nil, ErrAddress
	}
	addr, literal := netip.ParseAddr(address.Hostname())
	local := address.Hostname() == "localhost" || literal == nil && addr.Unmap().IsLoopback()
	open := slices.ContainsFunc(g.Allowed, func(p netip.Prefix) bool { return slices.ContainsFunc(loopback, p.Overlaps) })
	switch {
	case address.User != nil:
		return nil, ErrUser
	case address.Fragment != "":
		return nil, ErrFragment
	case address.Scheme == "http" && !plain && (!local || !open):
		return nil, ErrPlain
	case address.Scheme != "https" && address.Scheme != "http":
		return nil, ErrHTTPS
	case literal == nil && !g.Admits(addr):
		return nil, ErrPrivate
	}
	return address, nil
}

// Networks reads networks in CIDR notation; a bare address is a network of one.
func Networks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if addr, failed := netip.ParseAddr(text); err != nil && failed == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, errors.New("a network is written like 10.20.0.0/16")
		}
		networks = append(networks, prefix.Masked())
	}
	return networks, nil
}

// RetryAfter reads the header of that name, in seconds or as a date. However
// long somebody wants to be left alone, it is no longer than the limit.
func RetryAfter(text string, limit time.Duration) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), limit)
}
