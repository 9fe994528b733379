package main

import (
	"context"
	"time"
)

// paced is a service with long work. It is suspended unless it is being
// measured, so that another one on the same machine can be measured.
type paced struct {
	*service
	far   func(context.Context) (int64, error) // how much is done
	every time.Duration                        // how often to ask, rarely enough to cause no load
	goal  int64                                // how far it should be by now
}

// tenths compares the throughput of the last tenth of long work with that of
// the first. Within one piece of work the two are minutes apart, and a machine
// that became slower meanwhile would decide. So there are two of the same
// length in separate databases, and each part of the first tenth of one is
// followed by a part of the last tenth of the other. Parts are short, so that
// the machine is the same for both, but not shorter than given.
func tenths(ctx context.Context, old, young *paced, total, shortest int64) (ratio float64, last, first sample, err error) {
	if _, err := old.advance(ctx, total*90/100); err != nil {
		return 0, sample{}, sample{}, err
	}
	// Leave out the start, when connections and caches are cold, and the very
	// end, when there is not enough work left for all workers.
	if _, err := young.advance(ctx, total*2/100); err != nil {
		return 0, sample{}, sample{}, err
	}
	compared := total * 9 / 100
	// An odd number has a median.
	pieces := (min(9, max(3, compared/shortest)) - 1) | 1
	return alternate(int(pieces),
		func() (sample, error) { return old.advance(ctx, compared/pieces) },
		func() (sample, error) { return young.advance(ctx, compared/pieces) })
}

// advance lets the service continue until that much more is done, and returns
// its throughput.
func (s *paced) advance(ctx context.Context, more int64) (sample, error) {
	warm := s.goal + more/5
	s.goal += more
	s.goOn()
	// Wait, so that a service that still finishes something does not slow down
	// the other.
	defer s.hold()
	done, err := s.far(ctx)
	start := mark{done, time.Now()}
	began, now := start, start
	for err == nil && now.done < s.goal {
		time.Sleep(s.every)
		// Measure only between moments at which the count has just risen,
		// because work is done in batches.
		if done, err = s.far(ctx); done != now.done {
			now = mark{done, time.Now()}
		}
		if began == start && now.done >= warm && now.done < s.goal {
			began = now
		}
	}
	return sample{rate: float64(now.done-began.done) / now.at.Sub(began.at).Seconds()}, err
}

// mark is how much was done at a moment.
type mark struct {
	done int64
	at   time.Time
}

// finish lets the service do the rest.
func (s *paced) finish(ctx context.Context, total int64) error {
	_, err := s.advance(ctx, total-s.goal)
	s.goOn()
	return err
}
