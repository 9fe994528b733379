package httpapi

import (
	"context"
	"sync"
	"time"

	"landfall"
)

// slots bounds how many lists are being sent, or bulk requests worked on: of one
// organisation, so that it cannot keep the others away with sockets it hardly
// reads from, and in all.
type slots struct {
	each, all       int
	errEach, errAll error
	mu              sync.Mutex
	taken           int
	by              map[string]int
	changed         chan struct{} // closed when one is given back
	patience        time.Duration
}

const (
	slotsEach = 8
	slotsAll  = 64
	// slotPatience is how long a caller waits for one of his to end.
	slotPatience = 2 * time.Second
)

// newSlots makes so many, with what is told to who gets none.
func newSlots(each, all int, errEach, errAll error) *slots {
	return &slots{
		each: each, all: all, errEach: errEach, errAll: errAll,
		by: map[string]int{}, changed: make(chan struct{}), patience: slotPatience,
	}
}

// The refusals of who would have waited too long.
var (
	errOwnSlots = &landfall.Error{
		Kind: landfall.TooMany, Code: landfall.CodeTooManyRequests, RetryAfter: slotPatience,
		Detail: "Your organisation is reading too many lists at once. Finish one, or try again shortly.",
	}
	errAllSlots = &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable, RetryAfter: slotPatience,
		Detail: "Too many lists are being read at once. Send the same request again shortly.",
	}
)

// take waits for a slot and gives back the function that frees it.
func (s *slots) take(ctx context.Context, organisation string) (func(), error) {
	// One patience for all tries: who is woken in vain does not begin to wait anew.
	waiting := time.NewTimer(s.patience)
	defer waiting.Stop()
	for {
		changed, refusal := s.try(organisation)
		if refusal == nil {
			return func() { s.free(organisation) }, nil
		}
		select {
		case <-changed:
		case <-waiting.C:
			return nil, refusal
		case <-ctx.Done():
			return nil, refusal
		}
	}
}

// try takes a slot, or says why not and when to try again.
func (s *slots) try(organisation string) (<-chan struct{}, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	// One's own limit is told before that of all: it is the one that the caller can do something
	// about.
	case s.by[organisation] >= s.each:
		return s.changed, s.errEach
	case s.taken >= s.all:
		return s.changed, s.errAll
	}
	s.taken++
	s.by[organisation]++
	return nil, nil
}

// free gives a slot back and wakes everybody who waits for one.
func (s *slots) free(organisation string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.by[organisation]--; s.by[organisation] == 0 {
		delete(s.by, organisation)
	}
	// Closed and not sent to: those who wait are of many organisations, and only each of them
	// knows whether it may go on.
	close(s.changed)
	s.changed = make(chan struct{})
}
