// Package pace lets named callers through at a bounded rate: token buckets, as
// many as were asked for of late, and no more than a given number.
package pace

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limit is a rate: so many at once, and one more after every so long.
type Limit struct {
	Burst int
	Every time.Duration
}

// Per is the limit of count within a span, all of which may come at once.
func Per(count int, span time.Duration) Limit {
	return Limit{Burst: count, Every: span / time.Duration(count)}
}

// Buckets are token buckets by name. The longest unused is forgotten when
// there are too many, so that made-up names cannot eat the memory.
type Buckets struct {
	mu     sync.Mutex
	most   int
	byName map[string]*list.Element
	recent *list.List // of *bucket, latest used first
}

type bucket struct {
	name  string
	limit Limit
	rate  *rate.Limiter
}

// New gives buckets for at most so many names.
func New(most int) *Buckets {
	return &Buckets{most: most, byName: map[string]*list.Element{}, recent: list.New()}
}

// Take uses up one of what a name may have and gives zero, or says how long
// until the next one and takes nothing. A name whose limit has changed since
// its last time starts afresh with the new one.
func (b *Buckets) Take(name string, limit Limit, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	element, known := b.byName[name]
	if known {
		b.recent.MoveToFront(element)
	} else {
		element = b.recent.PushFront(&bucket{name: name})
		b.byName[name] = element
		if oldest := b.recent.Back(); len(b.byName) > b.most {
			delete(b.byName, b.recent.Remove(oldest).(*bucket).name) //nolint:forcetypeassert // the list has nothing else
		}
	}
	found := element.Value.(*bucket) //nolint:forcetypeassert // likewise
	if found.rate == nil || found.limit != limit {
		found.limit, found.rate = limit, rate.NewLimiter(rate.Every(limit.Every), limit.Burst)
	}
	reservation := found.rate.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// Len says how many names are remembered.
func (b *Buckets) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recent.Len()
}
