package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// sample is the result of one side of a measurement.
type sample struct {
	rate float64       // good responses per second
	p50  time.Duration // 0 if not measured
	p99  time.Duration // 0 if not measured
}

// of formats a sample; the first word of what is the unit.
func (s sample) of(what string) string {
	unit, rest, _ := strings.Cut(what, " ")
	text := strings.TrimSpace(fmt.Sprintf("%.0f %s/s %s", s.rate, unit, rest))
	if s.p99 > 0 {
		text += fmt.Sprintf(", p99 %.1f ms", float64(s.p99)/float64(time.Millisecond))
	}
	return text
}

// stopwatch holds how long each of many things took.
type stopwatch []time.Duration

// forever is the duration of a failed response.
const forever = time.Hour

// good counts the responses that did not fail.
func (s stopwatch) good() float64 {
	good := len(s)
	for _, took := range s {
		if took == forever {
			good--
		}
	}
	return float64(good)
}

// percentile returns the given percentile.
func (s stopwatch) percentile(share float64) time.Duration {
	if len(s) == 0 {
		return 0
	}
	slices.Sort(s)
	return s[int(share*float64(len(s)-1))]
}

// alternate runs the two arms in turn, so that a slow minute of the machine
// affects both, and returns the median of the ratios with the medians of both
// arms.
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

// middle returns the sample with the median rate.
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

// mean returns the mean of samples.
func mean(samples ...sample) (all sample) {
	for _, one := range samples {
		all.rate += one.rate / float64(len(samples))
		all.p99 += one.p99 / time.Duration(len(samples))
	}
	return all
}
