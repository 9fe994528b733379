package money

import (
	"math"

	"github.com/shopspring/decimal"
)

// Decimal is an exact quantity or rate that keeps its digits as they were
// sent: 1.50 stays 1.50. The zero Decimal is 0.
type Decimal struct {
	text   string          // as sent; "" for a result
	result decimal.Decimal // of arithmetic
}

// ParseDecimal reads a decimal of at most 12 digits before the point and 10
// after it, not counting zeros at the end.
func ParseDecimal(text string) (Decimal, error) {
	n, err := split(text)
	if err != nil {
		return Decimal{}, err
	}
	if significant(n.fraction) > decimalPlaces {
		return Decimal{}, ErrPlaces
	}
	return Decimal{text: text}, nil
}

// String gives the digits as they were sent.
func (d Decimal) String() string {
	if d.text == "" {
		return d.result.String()
	}
	return d.text
}

// Mul gives the exact product, which may have more digits than can be sent.
func (d Decimal) Mul(other Decimal) Decimal { return exact(d.value().Mul(other.value())) }

// Add gives the exact sum.
func (d Decimal) Add(other Decimal) Decimal { return exact(d.value().Add(other.value())) }

// Sub gives the exact difference.
func (d Decimal) Sub(other Decimal) Decimal { return exact(d.value().Sub(other.value())) }

// Compare is negative when d is smaller than other, positive when larger; the
// spelling does not matter.
func (d Decimal) Compare(other Decimal) int { return d.value().Cmp(other.value()) }

// Round gives the nearest amount; halves go away from zero, as on a bill. A
// product too large for an amount is ErrRange.
func (d Decimal) Round() (Amount, error) {
	minor := d.value().Round(amountPlaces).Shift(amountPlaces)
	if minor.Abs().Cmp(largest) > 0 {
		return 0, ErrRange
	}
	return Amount(minor.IntPart()), nil
}

// Near reports whether d and other are at most a tolerance apart, compared
// exactly, before any rounding.
func (d Decimal) Near(other Decimal, tolerance Amount) bool {
	apart := d.value().Sub(other.value()).Abs()
	return apart.Cmp(decimal.New(int64(tolerance), -amountPlaces)) <= 0
}

var largest = decimal.NewFromInt(math.MaxInt64)

// value gives the number behind the digits. They passed split, so the parser
// cannot fail and cannot be made to work for long.
func (d Decimal) value() decimal.Decimal {
	if d.text == "" {
		return d.result
	}
	return decimal.RequireFromString(d.text)
}

func exact(value decimal.Decimal) Decimal { return Decimal{result: value} }
