package auth

import (
	"time"

	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// loginLimiter limits password attempts. Attempts of unknown callers are limited by
// network, by name and network, and by name. An operator who is known in a browser
// or at an address has a limit of their own there, so others cannot use it up.
// Each limit allows another attempt after seconds, so no operator is locked out.
type loginLimiter struct {
	sources, sites, pairs, names, known *admission.Buckets
}

// maxTracked limits the names and networks that are tracked, each.
const maxTracked = 10_000

func newLoginLimiter() *loginLimiter {
	return &loginLimiter{
		sources: admission.NewBuckets(maxTracked), sites: admission.NewBuckets(maxTracked), pairs: admission.NewBuckets(maxTracked),
		names: admission.NewBuckets(maxTracked), known: admission.NewBuckets(maxTracked),
	}
}

// The limits: a burst of attempts, and one more after each interval.
var (
	ofSource = admission.Rate{Burst: limits.SignInsPerSource, Every: limits.SignInPerSourceEvery}
	ofSite   = admission.Rate{Burst: limits.SignInsPerSite, Every: limits.SignInPerSiteEvery}
	ofPair   = admission.Rate{Burst: limits.SignInsPerPair, Every: limits.SignInEvery}
	ofName   = admission.Rate{Burst: limits.SignInsPerName, Every: limits.SignInEvery}
)

// take counts an attempt and returns how long to wait; zero allows it. A known
// operator is counted by where they are known.
func (b *loginLimiter) take(name, address, knownBy string, now time.Time) time.Duration {
	name = truncate(name, maxAgentLength)
	if knownBy != "" {
		return b.known.Take(name+" "+knownBy, ofPair, now)
	}
	wait := max(b.takeSource(address, now), b.pairs.Take(network(address)+" "+name, ofPair, now))
	if wait == 0 {
		wait = b.names.Take(name, ofName, now)
	}
	return wait
}

// takeSource counts an attempt that names nobody, by where it comes from.
func (b *loginLimiter) takeSource(address string, now time.Time) time.Duration {
	source := network(address)
	wait := b.sources.Take(source, ofSource, now)
	if around := site(address); around != source {
		wait = max(wait, b.sites.Take(around, ofSite, now))
	}
	return wait
}
