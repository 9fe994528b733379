// Package cache stores values for a short time and loads each only once at a
// time. It saves the database the lookup that every request repeats. Values
// expire so soon that a change is seen with little delay.
package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Cache holds values by key. Two generations bound its size: when the recent one
// is full, the old one is dropped, which costs nothing per entry.
type Cache[K comparable, V any] struct {
	limits Limits

	mu          sync.Mutex
	recent, old map[K]*entry[V]
}

// Limits configures a Cache.
type Limits struct {
	TTL         time.Duration // of a value, from before it was loaded
	LoadTimeout time.Duration // of loading a value, for which many callers may wait
	Size        int           // of a generation
}

// entry is a value that is loaded or being loaded. Read the fields below done
// once it is closed.
type entry[V any] struct {
	asked time.Time
	done  chan struct{}
	value V
	err   error
}

// New returns an empty cache.
func New[K comparable, V any](limits Limits) *Cache[K, V] {
	return &Cache[K, V]{limits: limits, recent: map[K]*entry[V]{}}
}

// Get returns a cached value, waits for one that is being loaded, or loads it. An
// error is not cached, so the next caller tries again; if a missing value should
// be cached, load must return it as a value.
func (c *Cache[K, V]) Get(ctx context.Context, key K, now time.Time, load func(context.Context) (V, error)) (V, error) {
	found, missing := c.find(key, now)
	if missing {
		// Others may wait for the same value, so loading it does not end with the
		// caller that asked first.
		c.load(context.WithoutCancel(ctx), key, found, load)
	}
	// Usually the value is there, and one channel is cheaper than two.
	select {
	case <-found.done:
		return found.value, found.err
	default:
	}
	select {
	case <-found.done:
		return found.value, found.err
	case <-ctx.Done():
		var none V
		return none, ctx.Err()
	}
}

// Len is the number of values, expired ones included.
func (c *Cache[K, V]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.recent) + len(c.old)
}

// find returns a fresh entry, or a new one that the caller must load.
func (c *Cache[K, V]) find(key K, now time.Time) (found *entry[V], missing bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, generation := range [2]map[K]*entry[V]{c.recent, c.old} {
		if found := generation[key]; found != nil {
			// If the clock was set back the age is negative: load again.
			if age := now.Sub(found.asked); age >= 0 && age < c.limits.TTL {
				return found, false
			}
		}
	}
	if len(c.recent) >= c.limits.Size {
		c.recent, c.old = make(map[K]*entry[V]), c.recent
	}
	found = &entry[V]{asked: now, done: make(chan struct{})}
	c.recent[key] = found
	return found, true
}

// load loads a value and wakes all callers that wait for it. After an error or a
// panic the entry is removed.
func (c *Cache[K, V]) load(ctx context.Context, key K, loading *entry[V], load func(context.Context) (V, error)) {
	ctx, cancel := context.WithTimeout(ctx, c.limits.LoadTimeout)
	defer cancel()
	loading.err = errors.New("the value was not loaded")
	defer close(loading.done)
	defer func() {
		if loading.err != nil {
			c.remove(key, loading)
		}
	}()
	loading.value, loading.err = load(ctx)
}

// remove removes an entry, unless it was replaced.
func (c *Cache[K, V]) remove(key K, gone *entry[V]) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, generation := range [2]map[K]*entry[V]{c.recent, c.old} {
		if generation[key] == gone {
			delete(generation, key)
		}
	}
}
