package payvendor

import (
	"context"
	"net/http"
	"sync"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// vendorAdapter is the client of one vendor's API.
type vendorAdapter interface {
	// lookup fetches an instruction once. It returns errNotFound when the vendor has none;
	// other errors come from checkedTransport.
	lookup(ctx context.Context, reference string) (result, error)
}

// result is what a vendor replied.
type result struct {
	types   []string // the instruction types that it matches
	active  bool
	details landfall.InstructionDetails
}

// vendorClient talks to one vendor. Organisations share its adapter and connections.
// Everything that one organisation could break for the others is in its orgClient.
type vendorClient struct {
	vendor  landfall.Vendor
	options Options
	client  *http.Client
	adapter vendorAdapter
	// requests limits concurrent requests. They wait for a quarter of the time limit at
	// most, so that there is time left for the reply; otherwise the wait would look like
	// slowness of the vendor.
	requests *admission.Limiter

	mu            sync.Mutex
	organisations map[string]*orgClient // by organisation; their number is up to the operator
	rejecting     bool                  // the vendor rejects us, and the operator was alerted
}

func newVendorClient(vendor landfall.Vendor, options Options, client *http.Client, adapter vendorAdapter) *vendorClient {
	return &vendorClient{
		vendor: vendor, options: options, client: client, adapter: adapter,
		organisations: map[string]*orgClient{},
		requests: admission.NewLimiter(admission.Limits{
			Capacity: limits.VendorRequests, Share: limits.VendorRequestsEach, Wait: options.TimeLimit / 4, TenantWaiting: limits.VendorRequestsWaiting, Refusal: errBusy,
		}),
	}
}

func (c *vendorClient) forOrganisation(organisation string) *orgClient {
	c.mu.Lock()
	defer c.mu.Unlock()
	found := c.organisations[organisation]
	if found == nil {
		found = newOrgClient(c, organisation)
		c.organisations[organisation] = found
	}
	return found
}

// recordRejection alerts the operator once when the vendor starts to reject us. That
// concerns our credentials, so it is the same for every organisation.
func (c *vendorClient) recordRejection(err error) {
	c.mu.Lock()
	rejecting := err != nil && isRejection(err)
	alarm := rejecting && !c.rejecting
	if rejecting || err == nil {
		c.rejecting = rejecting
	}
	c.mu.Unlock()
	if alarm {
		c.options.Alarm(c.vendor.Code, withoutURL(err))
	}
}
