package engine

import (
	"math"
	"time"
)

// pace knows how fast work was taken of late while other work was waiting:
// only then does the rate say what the database can do.
type pace struct {
	cost, seconds float64 // of late
	last          time.Time
	backlog       bool // something has been waiting since
}

const (
	// remembered is how long the past counts.
	remembered = 500 * time.Millisecond
	// sure is how much of it there must be before it is believed.
	sure = 50 * time.Millisecond
	// pauseCounts bounds how much one pause counts, so that a database that
	// was away is soon known to be back.
	pauseCounts = time.Second
)

// took notes that work of some cost left the queue, and whether more waits.
func (p *pace) took(cost int64, more bool, now time.Time) {
	if p.backlog {
		passed := min(now.Sub(p.last), pauseCounts)
		keep := math.Exp(-float64(passed) / float64(remembered))
		p.cost = p.cost*keep + float64(cost)
		p.seconds = p.seconds*keep + passed.Seconds()
	}
	p.last, p.backlog = now, more
}

// takes guesses how long work of some cost takes to get its turn.
func (p *pace) takes(cost int64) time.Duration {
	if p.seconds < sure.Seconds() || p.cost <= 0 {
		return 0
	}
	return time.Duration(float64(cost) / p.cost * p.seconds * float64(time.Second))
}

// stuck tells for how long nothing was taken although something waits.
func (p *pace) stuck(now time.Time) time.Duration {
	if !p.backlog {
		return 0
	}
	return now.Sub(p.last)
}
