package admission

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Rate is how often something may happen: Burst times at once, and once more
// after every Every.
type Rate struct {
	Burst int
	Every time.Duration
}

// Per returns the rate of count events within a time; all of them may come at
// once.
func Per(count int, within time.Duration) Rate {
	return Rate{Burst: count, Every: within / time.Duration(count)}
}

// Buckets are token buckets by name. When there are too many, the one unused
// for longest is dropped, so that invented names cannot use up the memory.
type Buckets struct {
	mu     sync.Mutex
	most   int
	byName map[string]*list.Element
	recent *list.List // of *bucket, the one used last first
}

type bucket struct {
	name    string
	rate    Rate
	limiter *rate.Limiter
}

// NewBuckets returns buckets for at most this many names.
func NewBuckets(most int) *Buckets {
	return &Buckets{most: most, byName: map[string]*list.Element{}, recent: list.New()}
}

// Take takes a token from a bucket and returns 0, or takes nothing and returns
// how long until there is one. A bucket whose rate has changed starts full.
func (b *Buckets) Take(name string, allowed Rate, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	element, known := b.byName[name]
	if known {
		b.recent.MoveToFront(element)
	} else {
		element = b.recent.PushFront(&bucket{name: name})
		b.byName[name] = element
		if oldest := b.recent.Back(); len(b.byName) > b.most {
			delete(b.byName, b.recent.Remove(oldest).(*bucket).name) //nolint:forcetypeassert // the list holds nothing else
		}
	}
	found := element.Value.(*bucket) //nolint:forcetypeassert // likewise
	if found.limiter == nil || found.rate != allowed {
		found.rate, found.limiter = allowed, rate.NewLimiter(rate.Every(allowed.Every), allowed.Burst)
	}
	reservation := found.limiter.ReserveN(now, 1)
	wait := reservation.DelayFrom(now)
	if wait > 0 {
		reservation.CancelAt(now)
	}
	return wait
}

// Len is the number of names with a bucket.
func (b *Buckets) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.recent.Len()
}
