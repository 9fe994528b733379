package auth

import (
	"net/netip"
	"time"

	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// Limits is how many failed attempts are allowed. Only failures count: a valid
// key always passes, so an attacker cannot lock an organisation out.
type Limits struct {
	SourceBurst int           // failures of one address before it must wait; 0: 20
	SourceEvery time.Duration // one more failure is allowed after this long; 0: 3 s
	KeyBurst    int           // failures on one key id, from anywhere; 0: 10
	KeyEvery    time.Duration // 0: 6 s
	Remembered  int           // addresses and key ids tracked at most, each; 0: 10,000
}

func (l Limits) withDefaults() Limits {
	setDefault(&l.SourceBurst, limits.FailedKeysPerSource)
	setDefault(&l.SourceEvery, limits.FailedKeyPerSourceEvery)
	setDefault(&l.KeyBurst, limits.FailedKeysPerKey)
	setDefault(&l.KeyEvery, limits.FailedKeyPerKeyEvery)
	setDefault(&l.Remembered, 10_000)
	return l
}

// setDefault replaces a setting that is not positive.
func setDefault[N int | time.Duration](setting *N, fallback N) {
	if *setting <= 0 {
		*setting = fallback
	}
}

// failureLimiter counts failures by network and by key id.
type failureLimiter struct {
	limits               Limits
	sources, sites, keys *admission.Buckets
}

func newFailureLimiter(limits Limits) *failureLimiter {
	limits = limits.withDefaults()
	return &failureLimiter{
		limits: limits, sources: admission.NewBuckets(limits.Remembered), sites: admission.NewBuckets(limits.Remembered),
		keys: admission.NewBuckets(limits.Remembered),
	}
}

// fail counts a failure and returns how long the caller must wait; zero while it is
// within the limits. An empty key id is not counted.
func (t *failureLimiter) fail(source, keyID string, now time.Time) time.Duration {
	host := network(source)
	wait := t.sources.Take(host, admission.Rate{Burst: t.limits.SourceBurst, Every: t.limits.SourceEvery}, now)
	if around := site(source); around != host {
		wait = max(wait, t.sites.Take(around, admission.Rate{Burst: limits.FailedKeysPerSite, Every: limits.FailedKeyPerSiteEvery}, now))
	}
	if keyID != "" {
		wait = max(wait, t.keys.Take(keyID, admission.Rate{Burst: t.limits.KeyBurst, Every: t.limits.KeyEvery}, now))
	}
	return wait
}

// network returns what counts as one source: an IPv4 address, or the /64 network of
// an IPv6 address, which a single host may use freely.
func network(source string) string { return prefixOfSource(source, 64) }

// site returns the /48 network of an IPv6 address, which is what a provider gives to
// one customer, or an IPv4 address.
func site(source string) string { return prefixOfSource(source, 48) }

func prefixOfSource(source string, bits int) string {
	if pair, err := netip.ParseAddrPort(source); err == nil {
		source = pair.Addr().String()
	}
	address, err := netip.ParseAddr(source)
	if err != nil {
		return source
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		if prefix, err := address.Prefix(bits); err == nil {
			return prefix.String()
		}
	}
	return address.String()
}
