package auth

import (
	"context"
	"errors"
	"sync"
	"time"

	"landfall"
)

// cache remembers answers for a moment and asks each question once at a time.
// Two generations bound it: when the young one is full, the old one is dropped
// whole, which costs nothing per entry and forgets at most some short-lived
// answers.
type cache struct {
	life time.Duration
	size int

	mu         sync.Mutex
	young, old map[[32]byte]*answer
}

// answer is a question under way or answered. The fields below done may be
// read once it is closed.
type answer struct {
	asked time.Time
	done  chan struct{}
	found pass
	err   error
}

func newCache(life time.Duration, size int) *cache {
	return &cache{life: life, size: size, young: map[[32]byte]*answer{}}
}

// get gives the remembered answer, or waits for the one being asked for, or
// asks. Unknown tokens are remembered too; a failure to ask is not.
func (c *cache) get(ctx context.Context, hash [32]byte, now time.Time, ask func(context.Context) (pass, error)) (pass, error) {
	entry, first := c.entry(hash, now)
	if first {
		// Others may be waiting for the same answer, so the question outlives the
		// patience of the caller that happened to ask it first.
		c.fill(context.WithoutCancel(ctx), hash, entry, ask)
	}
	select {
	case <-entry.done:
		return entry.found, entry.err
	case <-ctx.Done():
		return pass{}, ctx.Err()
	}
}

// entry finds a fresh entry for a hash, or makes one that the caller must fill.
func (c *cache) entry(hash [32]byte, now time.Time) (entry *answer, first bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, generation := range []map[[32]byte]*answer{c.young, c.old} {
		if entry := generation[hash]; entry != nil {
			// A clock that was set back makes the age negative: ask again then.
			if age := now.Sub(entry.asked); age >= 0 && age < c.life {
				return entry, false
			}
		}
	}
	if len(c.young) >= c.size {
		c.young, c.old = make(map[[32]byte]*answer), c.young
	}
	entry = &answer{asked: now, done: make(chan struct{})}
	c.young[hash] = entry
	return entry, true
}

// fill asks and wakes everybody who waits. A failure to ask is taken out again
// so that the next caller tries anew; a panic on the way counts as one.
func (c *cache) fill(ctx context.Context, hash [32]byte, entry *answer, ask func(context.Context) (pass, error)) {
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	entry.err = errors.New("the question was not answered")
	defer close(entry.done)
	defer func() {
		if entry.err != nil && !errors.Is(entry.err, landfall.ErrNotFound) {
			c.forget(hash, entry)
		}
	}()
	entry.found, entry.err = ask(ctx)
}

// forget takes an entry out, unless another has taken its place.
func (c *cache) forget(hash [32]byte, entry *answer) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, generation := range []map[[32]byte]*answer{c.young, c.old} {
		if generation[hash] == entry {
			delete(generation, hash)
		}
	}
}
