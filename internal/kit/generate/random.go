package generate

import (
	"math/bits"
	"math/rand/v2"
)

// random draws the values of one account. It uses only the generator of math/rand/v2, whose
// sequence is fixed. Ranges and choices are computed here, so that no Go release changes a book.
type random struct{ source *rand.PCG }

// newRandom depends only on the seed and the index of the account, so that any part of a book can
// be generated alone.
func newRandom(seed uint64, index int) *random {
	return &random{rand.NewPCG(seed, 0x9e3779b97f4a7c15*uint64(index+1))}
}

// below returns a number in [0, n).
func (d *random) below(n int) int {
	// The upper half of the product is even enough for small ranges, and the same on every machine.
	high, _ := bits.Mul64(d.source.Uint64(), uint64(n))
	return int(high)
}

// between returns a number in a range, both ends included.
func (d *random) between(low, high int) int { return low + d.below(high-low+1) }

// chance is true with the given percentage.
func (d *random) chance(percent int) bool { return d.below(100) < percent }

func (d *random) share(probability float64) bool {
	// A float64 holds 53 bits exactly.
	return float64(d.source.Uint64()>>11)/(1<<53) < probability
}

// digits returns n digits, the first not zero.
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

// pick returns one element of a list.
func pick[T any](d *random, from []T) T { return from[d.below(len(from))] }
