package payvendor

import (
	"net/http"
	"net/netip"

	"landfall/internal/outbound/guard"
)

// client makes the HTTP client of one vendor, which may be in the networks the
// operator opened for it.
func (v *Verifier) client(allowed []netip.Prefix) *http.Client {
	gate := &guard.Gate{Allowed: allowed, Lookup: v.lookup, Dial: v.dial}
	return &http.Client{Transport: &courier{next: gate.Transport(mostAtOnce, v.roots)}}
}
