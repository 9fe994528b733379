package auth

import (
	"sync"
	"time"

	"landfall/internal/lib/admission"
)

// loginLimiter slows guessing of passwords down: by address, by name from one address,
// and by name from wherever. Each limit lets somebody try again after seconds,
// so nobody is locked out for good; and whoever comes from where he has been
// before is not held up by what others try in his name.
type loginLimiter struct {
	sources, pairs, names *admission.Buckets

	mu    sync.Mutex
	known map[string]bool // name and address of those who got in
}

// maxTracked bounds the names and addresses that are kept, each.
const maxTracked = 10_000

func newLoginLimiter() *loginLimiter {
	return &loginLimiter{sources: admission.NewBuckets(maxTracked), pairs: admission.NewBuckets(maxTracked), names: admission.NewBuckets(maxTracked), known: map[string]bool{}}
}

// The limits: so many attempts at once, and one more after every so long.
var (
	ofSource = admission.Rate{Burst: 20, Every: 3 * time.Second}
	ofPair   = admission.Rate{Burst: 10, Every: 10 * time.Second}
	ofName   = admission.Rate{Burst: 30, Every: 10 * time.Second}
)

// take says how long somebody must wait; zero lets him try.
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

// trust remembers where somebody has got in from. Whoever must be forgotten for
// it is only treated as a stranger again.
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
