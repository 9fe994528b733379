package engine

import (
	"math"
	"time"
)

// throughput measures how fast work was taken recently while other work was
// waiting. Only then does the rate say what the database can do.
type throughput struct {
	cost, seconds float64 // recently
	last          time.Time
	backlog       bool // something has been waiting since
}

const (
	// rateMemory is how long a measurement counts.
	rateMemory = 500 * time.Millisecond
	// minSample is how much must have been measured before it is used.
	minSample = 50 * time.Millisecond
	// maxPause bounds how much one pause counts, so that a database that was
	// away is soon known to be back.
	maxPause = time.Second
)

// record notes that work of a cost left the queue, and whether more waits.
func (p *throughput) record(cost int64, more bool, now time.Time) {
	if p.backlog {
		passed := min(now.Sub(p.last), maxPause)
		keep := math.Exp(-float64(passed) / float64(rateMemory))
		p.cost = p.cost*keep + float64(cost)
		p.seconds = p.seconds*keep + passed.Seconds()
	}
	p.last, p.backlog = now, more
}

// estimate returns how long work of a cost waits until it is taken.
func (p *throughput) estimate(cost int64) time.Duration {
	if p.seconds < minSample.Seconds() || p.cost <= 0 {
		return 0
	}
	return time.Duration(float64(cost) / p.cost * p.seconds * float64(time.Second))
}

// stalled returns for how long nothing was taken although something waits.
func (p *throughput) stalled(now time.Time) time.Duration {
	if !p.backlog {
		return 0
	}
	return now.Sub(p.last)
}
