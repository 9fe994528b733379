package money

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Total is the exact sum of any number of amounts or counts: a million accounts
// may come to more than an Amount holds. Totals are compared with ==.
type Total struct {
	high int64 // the number's upper and lower half, as a signed one of 128 bits
	low  uint64
}

// TotalOf gives a number as a total.
func TotalOf(number int64) Total {
	return Total{high: number >> 63, low: uint64(number)} //nolint:gosec // the bits
}

// Plus gives the sum.
func (t Total) Plus(other Total) Total {
	low, carry := bits.Add64(t.low, other.low, 0)
	return Total{high: t.high + other.high + int64(carry), low: low} //nolint:gosec // 0 or 1
}

// Minus gives the difference.
func (t Total) Minus(other Total) Total {
	low, borrow := bits.Sub64(t.low, other.low, 0)
	return Total{high: t.high - other.high - int64(borrow), low: low} //nolint:gosec // 0 or 1
}

// Times gives the product with a small number.
func (t Total) Times(factor int64) Total {
	product := t.number()
	product.Mul(product, big.NewInt(factor))
	low := new(big.Int).And(product, new(big.Int).SetUint64(^uint64(0)))
	return Total{high: new(big.Int).Rsh(product, 64).Int64(), low: low.Uint64()}
}

// Zero reports whether there is nothing.
func (t Total) Zero() bool { return t == Total{} }

// Negative reports whether it is less than nothing.
func (t Total) Negative() bool { return t.high < 0 }

// Clamp gives the total, or as much of it as one number may hold.
func (t Total) Clamp() int64 {
	switch {
	case t == TotalOf(int64(t.low)): //nolint:gosec // the bits
		return int64(t.low) //nolint:gosec // see above
	case t.high < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Count gives the total of counts as a number; no count comes near its limits.
func (t Total) Count() int64 { return int64(t.low) } //nolint:gosec // see above

// String writes a total of amounts with two decimals.
func (t Total) String() string {
	digits := t.number()
	sign := ""
	if digits.Sign() < 0 {
		sign = "-"
		digits.Neg(digits)
	}
	text := digits.String()
	for len(text) <= amountPlaces {
		text = "0" + text
	}
	point := len(text) - amountPlaces
	return sign + text[:point] + "." + text[point:]
}

// ParseTotal reads what String writes.
func ParseTotal(text string) (Total, error) {
	whole, fraction, pointed := strings.Cut(text, ".")
	number, sound := new(big.Int).SetString(whole+fraction, 10)
	if !pointed || len(fraction) != amountPlaces || !sound || number.BitLen() > 120 {
		return Total{}, ErrSyntax
	}
	low := new(big.Int).And(number, new(big.Int).SetUint64(math.MaxUint64))
	return Total{high: new(big.Int).Rsh(number, 64).Int64(), low: low.Uint64()}, nil
}

// Digits writes a total of counts.
func (t Total) Digits() string { return t.number().String() }

func (t Total) number() *big.Int {
	number := new(big.Int).Lsh(big.NewInt(t.high), 64)
	return number.Add(number, new(big.Int).SetUint64(t.low))
}
