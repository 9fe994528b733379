package auth

import (
	"sync"
	"time"

	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// loginLimiter limits password attempts by address, by name and address, and by
// name. Each limit allows another attempt after seconds, so no operator is locked
// out. An operator at a known address is not affected by what others try with the
// same name.
type loginLimiter struct {
	sources, pairs, names *admission.Buckets

	mu    sync.Mutex
	known map[string]bool // name and address of successful sign-ins
}

// maxTracked limits the names and addresses that are tracked, each.
const maxTracked = 10_000

func newLoginLimiter() *loginLimiter {
	return &loginLimiter{sources: admission.NewBuckets(maxTracked), pairs: admission.NewBuckets(maxTracked), names: admission.NewBuckets(maxTracked), known: map[string]bool{}}
}

// The limits: a burst of attempts, and one more after each interval.
var (
	ofSource = admission.Rate{Burst: limits.SignInsPerSource, Every: limits.SignInPerSourceEvery}
	ofPair   = admission.Rate{Burst: limits.SignInsPerPair, Every: limits.SignInPerPairEvery}
	ofName   = admission.Rate{Burst: limits.SignInsPerName, Every: limits.SignInPerNameEvery}
)

// take counts an attempt and returns how long to wait; zero allows it.
func (b *loginLimiter) take(name, address string, now time.Time) time.Duration {
	name = truncate(name, maxAgentLength)
	source := network(address)
	pair := source + " " + name
	wait := max(b.sources.Take(source, ofSource, now), b.pairs.Take(pair, ofPair, now))
	b.mu.Lock()
	known := b.known[pair]
	b.mu.Unlock()
	if wait == 0 && !known {
		wait = b.names.Take(name, ofName, now)
	}
	return wait
}

// trust records a successful sign-in. When too many are recorded, an arbitrary one
// is dropped and treated as unknown again.
func (b *loginLimiter) trust(name, address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.known) >= maxTracked {
		for pair := range b.known {
			delete(b.known, pair)
			break
		}
	}
	b.known[network(address)+" "+name] = true
}
