package money

import (
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// Total is the exact sum of any number of amounts or counts; a million accounts
// may exceed an Amount. Compare totals with ==.
type Total struct {
	high int64 // high and low are the halves of a signed 128-bit integer
	low  uint64
}

// TotalOf returns a number as a total.
func TotalOf(number int64) Total {
	return Total{high: number >> 63, low: uint64(number)} //nolint:gosec // the bits
}

// Plus returns the sum.
func (t Total) Plus(other Total) Total {
	low, carry := bits.Add64(t.low, other.low, 0)
	return Total{high: t.high + other.high + int64(carry), low: low} //nolint:gosec // 0 or 1
}

// Minus returns the difference.
func (t Total) Minus(other Total) Total {
	low, borrow := bits.Sub64(t.low, other.low, 0)
	return Total{high: t.high - other.high - int64(borrow), low: low} //nolint:gosec // 0 or 1
}

// Times returns the product with a small number.
func (t Total) Times(factor int64) Total {
	product := t.number()
	product.Mul(product, big.NewInt(factor))
	low := new(big.Int).And(product, new(big.Int).SetUint64(^uint64(0)))
	return Total{high: new(big.Int).Rsh(product, 64).Int64(), low: low.Uint64()}
}

// Zero reports whether the total is zero.
func (t Total) Zero() bool { return t == Total{} }

// Negative reports whether the total is negative.
func (t Total) Negative() bool { return t.high < 0 }

// Clamp returns the total as an int64, clamped to its range.
func (t Total) Clamp() int64 {
	switch {
	case t == TotalOf(int64(t.low)): //nolint:gosec // the bits
		return int64(t.low) //nolint:gosec // see above
	case t.high < 0:
		return math.MinInt64
	}
	return math.MaxInt64
}

// Count returns a total of counts, which always fits.
func (t Total) Count() int64 { return int64(t.low) } //nolint:gosec // see above

// String writes a total of amounts with two decimals, or three if it has them.
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
	return sign + text[:point] + "." + strings.TrimSuffix(text[point:], "0")
}

// Fits reports whether a total of amounts has at most the given number of
// decimals.
func (t Total) Fits(places int) bool {
	unit := big.NewInt(int64(MinorUnit(places)))
	return unit.Rem(t.number(), unit).Sign() == 0
}

// ParseTotal reads the format of String.
func ParseTotal(text string) (Total, error) {
	whole, fraction, pointed := strings.Cut(text, ".")
	if len(fraction) == amountPlaces-1 {
		fraction += "0"
	}
	number, sound := new(big.Int).SetString(whole+fraction, 10)
	if !pointed || len(fraction) != amountPlaces || !sound || number.BitLen() > 120 {
		return Total{}, ErrSyntax
	}
	low := new(big.Int).And(number, new(big.Int).SetUint64(math.MaxUint64))
	return Total{high: new(big.Int).Rsh(number, 64).Int64(), low: low.Uint64()}, nil
}

// MaxSumDigits is how many digits a sum may have before its decimal point.
const MaxSumDigits = 18

// ParseSum reads a sum of amounts as ParseAmount reads an amount, with up to
// MaxSumDigits digits before the decimal point.
func ParseSum(text string) (Total, error) {
	n, err := splitTo(text, MaxSumDigits)
	if err != nil {
		return Total{}, err
	}
	if significant(n.fraction) > amountPlaces {
		return Total{}, ErrPlaces
	}
	sign := ""
	if n.negative {
		sign = "-"
	}
	return ParseTotal(sign + n.whole + "." + (n.fraction + "000")[:amountPlaces])
}

// Digits writes a total of counts.
func (t Total) Digits() string { return t.number().String() }

func (t Total) number() *big.Int {
	number := new(big.Int).Lsh(big.NewInt(t.high), 64)
	return number.Add(number, new(big.Int).SetUint64(t.low))
}
