package main

import (
	"fmt"
	"slices"
	"time"
)

// sample is what one arm of a measurement found.
type sample struct {
	rate float64       // good answers a second
	p50  time.Duration // how long the middle one took; 0 when nobody looked
	p99  time.Duration // how long the slowest hundredth of them took at least; 0 when nobody looked
}

// of writes a sample for people, what being what is counted.
func (s sample) of(what string) string {
	text := fmt.Sprintf("%.0f %s/s", s.rate, what)
	if s.p99 > 0 {
		text += fmt.Sprintf(", p99 %.1f ms", float64(s.p99)/float64(time.Millisecond))
	}
	return text
}

// stopwatch is how long each of many things took.
type stopwatch []time.Duration

// forever is how long an answer takes that is none.
const forever = time.Hour

// good counts the answers that were some.
func (s stopwatch) good() float64 {
	good := len(s)
	for _, took := range s {
		if took == forever {
			good--
		}
	}
	return float64(good)
}

// percentile gives how long at most the given share of them took.
func (s stopwatch) percentile(share float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[int(share*float64(len(s)-1))]
}

// alternate runs the two arms in turn, so that a slow minute of the machine
// hits both, and gives the median of the ratios with the medians of both arms.
func alternate(rounds int, ours, raw func() (sample, error)) (ratio float64, our, limit sample, err error) {
	var ratios []float64
	var mine, theirs []sample
	for range rounds {
		bound, err := raw()
		if err != nil {
			return 0, sample{}, sample{}, fmt.Errorf("raw limit: %w", err)
		}
		found, err := ours()
		if err != nil {
			return 0, sample{}, sample{}, err
		}
		ratios, mine, theirs = append(ratios, found.rate/bound.rate), append(mine, found), append(theirs, bound)
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2], middle(mine), middle(theirs), nil
}

// middle gives the sample of the median rate.
func middle(samples []sample) sample {
	slices.SortFunc(samples, func(a, b sample) int {
		switch {
		case a.rate < b.rate:
			return -1
		case a.rate > b.rate:
			return 1
		}
		return 0
	})
	return samples[len(samples)/2]
}

// mean gives what several samples of the same come to.
func mean(samples ...sample) (all sample) {
	for _, one := range samples {
		all.rate += one.rate / float64(len(samples))
		all.p99 += one.p99 / time.Duration(len(samples))
	}
	return all
}
