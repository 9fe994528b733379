package main

import (
	"context"
	"time"
)

// paced is a service with something long to do. It stands still unless its pace is
// being taken, so that another one on the same machine can have its turn.
type paced struct {
	*service
	far   func(context.Context) (int64, error) // how much of it is done
	every time.Duration                        // how often to ask, too rarely for asking to be work
	goal  int64                                // how far it was to go so far
}

// tenths compares the pace in the last tenth of something long with that in the
// first. Within one of them the two are minutes apart, and a machine that became
// slower meanwhile would decide; so there are two of the same length in databases of
// their own, and each piece of the one's first tenth is followed by a piece of the
// other's last. Pieces are short, so that the machine is the same for both, but none is
// shorter than given.
func tenths(ctx context.Context, old, young *paced, total, shortest int64) (ratio float64, last, first sample, err error) {
	if _, err := old.advance(ctx, total*90/100); err != nil {
		return 0, sample{}, sample{}, err
	}
	// Its beginning is left out, when connections and caches are not warm yet; and so is
	// the other's very end, when there is not enough left for all of its workers.
	if _, err := young.advance(ctx, total*2/100); err != nil {
		return 0, sample{}, sample{}, err
	}
	compared := total * 9 / 100
	// An odd number has a middle.
	pieces := (min(9, max(3, compared/shortest)) - 1) | 1
	return alternate(int(pieces),
		func() (sample, error) { return old.advance(ctx, compared/pieces) },
		func() (sample, error) { return young.advance(ctx, compared/pieces) })
}

// advance lets the service go on until so much more is done, and gives its pace
// without the edges.
func (s *paced) advance(ctx context.Context, more int64) (sample, error) {
	warm := s.goal + more/5
	s.goal += more
	s.goOn()
	// A service that caught up with something in the other's turn would make that one slower.
	defer s.hold()
	done, err := s.far(ctx)
	start := mark{done, time.Now()}
	began, now := start, start
	for err == nil && now.done < s.goal {
		time.Sleep(s.every)
		// Only a moment at which there is more than before is one to measure between: work
		// comes in batches.
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
