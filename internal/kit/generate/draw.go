package generate

import (
	"math/bits"
	"math/rand/v2"
)

// random is the chance of one account. It uses nothing of math/rand/v2 but the
// generator itself, whose sequence is fixed for good; how ranges and choices
// are made of it is written here, so that no release of Go changes a book.
type random struct{ source *rand.PCG }

// newRandom makes the chances of one account depend on seed and place alone:
// any part of a book can be made again without the rest.
func newRandom(seed uint64, index int) *random {
	return &random{rand.NewPCG(seed, 0x9e3779b97f4a7c15*uint64(index+1))}
}

// below gives a number from 0 up to but not including n.
func (d *random) below(n int) int {
	// The upper half of the product is even enough for such small ranges, and the
	// same on every machine.
	high, _ := bits.Mul64(d.source.Uint64(), uint64(n))
	return int(high)
}

// between gives a number of a range, both ends included.
func (d *random) between(low, high int) int { return low + d.below(high-low+1) }

// chance is true in so many of a hundred cases.
func (d *random) chance(percent int) bool { return d.below(100) < percent }

// share is true with a probability of 0 to 1, as finely as faults are wanted.
func (d *random) share(probability float64) bool {
	// A float64 holds 53 bits exactly, so that nothing is rounded here.
	return float64(d.source.Uint64()>>11)/(1<<53) < probability
}

// digits gives so many of them, the first not zero.
func (d *random) digits(n int) string {
	text := make([]byte, n)
	for i := range text {
		text[i] = byte('0' + d.below(10))
	}
	if text[0] == '0' {
		text[0] = byte('1' + d.below(9))
	}
	return string(text)
}

// pick takes one of a list.
func pick[T any](d *random, from []T) T { return from[d.below(len(from))] }
