package bulk

import (
	"context"
	"sync"
)

const (
	// largeLines is how many lines longer than usual are in memory at once, and
	// largeLinesEach how many of one organisation.
	largeLines     = 4
	largeLinesEach = 2
)

// places bounds how many of something there are: in all, and of one
// organisation, so that it cannot keep the others waiting.
type places struct {
	all, each int

	mu      sync.Mutex
	taken   int
	by      map[string]int
	changed chan struct{} // closed when one is given back
}

// newPlaces makes so many in all, of which one organisation has so many at
// most.
func newPlaces(all, each int) *places {
	return &places{all: all, each: each, by: map[string]int{}, changed: make(chan struct{})}
}

// take waits for a place and gives back what ends it, to be called once.
func (p *places) take(ctx context.Context, organisation string) (free func(), err error) {
	for {
		changed := p.try(organisation)
		if changed == nil {
			// Who frees twice would free somebody else's.
			return sync.OnceFunc(func() { p.free(organisation) }), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// try takes a place, or says when to try again.
func (p *places) try(organisation string) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.all || p.by[organisation] >= p.each {
		return p.changed
	}
	p.taken++
	p.by[organisation]++
	return nil
}

// free gives a place back and wakes everybody: who of them may have it
// depends on whose it was.
func (p *places) free(organisation string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[organisation]--; p.by[organisation] == 0 {
		delete(p.by, organisation)
	}
	close(p.changed)
	p.changed = make(chan struct{})
}
