package money

import (
	"math"
	"math/bits"
)

// small is a decimal that fits an int64: count times 10^-places. Nearly every
// number on a bill is one, and so are its products and sums. Its methods report
// false if the result does not fit; then the library computes it.
//
// count is never the smallest int64, so that it can always be negated.
type small struct {
	count  int64
	places uint8
}

// maxPlaces is the maximum number of decimal places: the largest power of ten in
// an int64.
const maxPlaces = 18

var powers = func() (of [maxPlaces + 1]int64) {
	for i, power := 0, int64(1); i < len(of); i, power = i+1, power*10 {
		of[i] = power
	}
	return of
}()

// parseSmall reads a decimal with at most 18 digits. It reports false for
// anything else.
func parseSmall(text string) (small, bool) {
	rest := text
	negative := rest != "" && rest[0] == '-'
	if negative {
		rest = rest[1:]
	}
	count, point := int64(0), -1
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= '0' && c <= '9':
			count = count*10 + int64(c-'0') // what overflows is too long anyway
		case c == '.' && point < 0:
			point = i
		default:
			return small{}, false
		}
	}
	whole, places := len(rest), 0
	if point >= 0 {
		whole, places = point, len(rest)-point-1
	}
	if whole == 0 || whole > maxWhole || whole > 1 && rest[0] == '0' || whole+places > maxPlaces || point >= 0 && places == 0 {
		return small{}, false
	}
	if negative {
		count = -count
	}
	return small{count, uint8(places)}, true
}

// mulInt64 multiplies two numbers and reports whether the product fits.
func mulInt64(a, b int64) (int64, bool) {
	high, low := bits.Mul64(absInt64(a), absInt64(b))
	if high != 0 || low > math.MaxInt64 {
		return 0, false
	}
	if a < 0 != (b < 0) {
		return -int64(low), true
	}
	return int64(low), true
}

// absInt64 returns the absolute value.
func absInt64(a int64) uint64 {
	if a < 0 {
		return uint64(-a)
	}
	return uint64(a)
}

func (s small) mul(other small) (small, bool) {
	count, fits := mulInt64(s.count, other.count)
	places := s.places + other.places
	return small{count, places}, fits && places <= maxPlaces
}

// aligned returns both counts with the same number of places.
func (s small) aligned(other small) (mine, others int64, places uint8, fit bool) {
	mine, others, places, fit = s.count, other.count, s.places, true
	switch {
	case s.places < other.places:
		places = other.places
		mine, fit = mulInt64(mine, powers[other.places-s.places])
	case s.places > other.places:
		others, fit = mulInt64(others, powers[s.places-other.places])
	}
	return mine, others, places, fit
}

func (s small) add(other small) (small, bool) {
	a, b, places, fit := s.aligned(other)
	sum := a + b
	// If both have the same sign and the sum has the other, it overflowed.
	fit = fit && (a^sum)&(b^sum) >= 0 && sum != math.MinInt64
	return small{sum, places}, fit
}

func (s small) sub(other small) (small, bool) {
	other.count = -other.count
	return s.add(other)
}

// round returns the nearest amount with a number of decimals, with halves rounded
// away from zero.
func (s small) round(places int) (Amount, bool) {
	if int(s.places) <= places {
		count, fits := mulInt64(s.count, powers[amountPlaces-s.places])
		return Amount(count), fits
	}
	power := powers[int(s.places)-places]
	whole, rest := s.count/power, s.count%power
	switch half := power / 2; {
	case rest >= half:
		whole++
	case rest <= -half:
		whole--
	}
	count, fits := mulInt64(whole, powers[amountPlaces-places])
	return Amount(count), fits
}
