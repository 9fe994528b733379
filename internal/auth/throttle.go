package auth

import (
	"container/list"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits says how many failed attempts are borne before they are slowed down.
// Only failures count: a right key always passes, so nobody can lock an
// organisation out by failing on its behalf.
type Limits struct {
	SourceBurst int           // failures of one address before it must wait; 0: 20
	SourceEvery time.Duration // one more failure is borne after this long; 0: 3 s
	KeyBurst    int           // failures on one key id, from anywhere; 0: 10
	KeyEvery    time.Duration // 0: 6 s
	Remembered  int           // addresses and key ids remembered at most, each; 0: 10,000
}

func (l Limits) withDefaults() Limits {
	fill(&l.SourceBurst, 20)
	fill(&l.SourceEvery, 3*time.Second)
	fill(&l.KeyBurst, 10)
	fill(&l.KeyEvery, 6*time.Second)
	fill(&l.Remembered, 10_000)
	return l
}

// fill puts a default where nothing sensible was given.
func fill[N int | time.Duration](setting *N, fallback N) {
	if *setting <= 0 {
		*setting = fallback
	}
}

// throttle counts failures by address and by key id.
type throttle struct {
	sources, keys *buckets
}

func newThrottle(limits Limits) *throttle {
	limits = limits.withDefaults()
	return &throttle{
		sources: newBuckets(limits.SourceBurst, limits.SourceEvery, limits.Remembered),
		keys:    newBuckets(limits.KeyBurst, limits.KeyEvery, limits.Remembered),
	}
}

// fail notes a failure and gives how long the failing side must wait; zero
// when it is still within its limits. An empty key id counts for no key.
func (t *throttle) fail(source, keyID string, now time.Time) time.Duration {
	wait := t.sources.take(network(source), now)
	if keyID != "" {
		wait = max(wait, t.keys.take(keyID, now))
	}
	return wait
}

// network gives what counts as one source: an IPv4 address, or the /64 that a
// single IPv6 host is free to choose its addresses from.
func network(source string) string {
	if pair, err := netip.ParseAddrPort(source); err == nil {
		source = pair.Addr().String()
	}
	address, err := netip.ParseAddr(source)
	if err != nil {
		return source
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		if prefix, err := address.Prefix(64); err == nil {
			return prefix.String()
		}
	}
	return address.String()
}

// buckets are token buckets by name. The longest unused is forgotten when
// there are too many, so that made-up names cannot eat the memory.
type buckets struct {
	mu     sync.Mutex
	burst  int
	every  time.Duration
	most   int
	byName map[string]*list.Element
	recent *list.List // of *bucket, latest used first
}

type bucket struct {
	name  string
	limit *rate.Limiter
}

func newBuckets(burst int, every time.Duration, most int) *buckets {
	return &buckets{
		burst: burst, every: every, most: most,
		byName: map[string]*list.Element{}, recent: list.New(),
	}
}

// take uses up one attempt of a name and gives zero, or says how long until
// the next one is borne.
func (b *buckets) take(name string, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	element, known := b.byName[name]
	if known {
		b.recent.MoveToFront(element)
	} else {
		element = b.recent.PushFront(&bucket{name, rate.NewLimiter(rate.Every(b.every), b.burst)})
		b.byName[name] = element
		if oldest := b.recent.Back(); len(b.byName) > b.most {
			delete(b.byName, b.recent.Remove(oldest).(*bucket).name) //nolint:forcetypeassert // the list has nothing else
		}
	}
	limit := element.Value.(*bucket).limit //nolint:forcetypeassert // likewise
	reservation := limit.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}
