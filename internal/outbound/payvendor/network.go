package payvendor

import (
	"net/http"
	"net/netip"

	"landfall/internal/lib/limits"
	"landfall/internal/outbound/guard"
)

// httpClient returns the HTTP client for one vendor. It may connect to private networks that
// the operator allowed for it.
func (v *Verifier) httpClient(allowed []netip.Prefix) *http.Client {
	gate := &guard.Dialer{Allowed: allowed, Lookup: v.resolve, Dial: v.dial}
	return &http.Client{Transport: &checkedTransport{next: gate.Transport(limits.VendorRequests, v.roots)}}
}
