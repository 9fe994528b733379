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

// Errors about a URL. None repeats it, because it may contain a password.
var (
	ErrAddress  = errors.New("want a URL such as https://api.example.com/v1")
	ErrUser     = errors.New("the URL must not contain a user name or password")
	ErrFragment = errors.New("the URL must not have a fragment")
	ErrHTTPS    = errors.New("the URL must use https")
	ErrPlain    = errors.New("the URL must use https; plain http is only for an allowed loopback address")
	ErrPrivate  = errors.New("the address is private and not allowed")
)

var loopback = prefixes("127.0.0.0/8", "::1/128")

// ParseURL parses the URL of a server. It must use https, unless plain is set or it is an
// allowed loopback address. A literal IP address is checked here, a name only when it is
// dialled.
func (g *Dialer) ParseURL(text string, plain bool) (*url.URL, error) {
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
	case literal == nil && !g.Allows(addr):
		return nil, ErrPrivate
	}
	return address, nil
}

// Networks parses networks in CIDR notation. A bare address is a network of one.
func Networks(texts []string) ([]netip.Prefix, error) {
	var networks []netip.Prefix
	for _, text := range texts {
		prefix, err := netip.ParsePrefix(text)
		if addr, failed := netip.ParseAddr(text); err != nil && failed == nil {
			prefix, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		if err != nil {
			return nil, errors.New("want networks such as 10.20.0.0/16")
		}
		networks = append(networks, prefix.Masked())
	}
	return networks, nil
}

// RetryAfter parses a Retry-After header, in seconds or as a date, and caps it at limit.
func RetryAfter(text string, limit time.Duration) time.Duration {
	var wait time.Duration
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = time.Until(at)
	}
	return min(max(wait, 0), limit)
}
