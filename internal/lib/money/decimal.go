package money

import (
	"cmp"
	"math"

	"github.com/shopspring/decimal"
)

// Decimal is an exact quantity or rate that keeps its digits as they were
// sent: 1.50 stays 1.50. The zero Decimal is 0.
type Decimal struct {
	text   string           // as sent; "" for a result
	small  small            // its value, unless it is large
	result *decimal.Decimal // of arithmetic that no word holds
	large  bool             // the value is what the text or the result says
}

// ParseDecimal reads a decimal of at most 12 digits before the point and 10
// after it, not counting zeros at the end.
func ParseDecimal(text string) (Decimal, error) {
	if value, is := parseSmall(text); is && value.places <= decimalPlaces {
		return Decimal{text: text, small: value}, nil
	}
	n, err := split(text)
	if err != nil {
		return Decimal{}, err
	}
	if significant(n.fraction) > decimalPlaces {
		return Decimal{}, ErrPlaces
	}
	return Decimal{text: text, large: true}, nil
}

// NewDecimal is a decimal that was read before: its digits, and what Count gave of
// it then.
func NewDecimal(text string, count int64, places uint8) Decimal {
	return Decimal{text: text, small: small{count, places}}
}

// Parts gives a decimal as so many tenths, hundredths or whatever its places say,
// if its digits fit a machine word.
func (d Decimal) Parts() (count int64, places uint8, fits bool) {
	return d.small.count, d.small.places, !d.large
}

// String gives the digits as they were sent.
func (d Decimal) String() string {
	if d.text == "" {
		return d.value().String()
	}
	return d.text
}

// Mul gives the exact product, which may have more digits than can be sent.
func (d Decimal) Mul(other Decimal) Decimal {
	if product, fits := d.small.mul(other.small); fits && d.both(other) {
		return Decimal{small: product}
	}
	return fromLibrary(d.value().Mul(other.value()))
}

// Add gives the exact sum.
func (d Decimal) Add(other Decimal) Decimal {
	if sum, fits := d.small.add(other.small); fits && d.both(other) {
		return Decimal{small: sum}
	}
	return fromLibrary(d.value().Add(other.value()))
}

// Sub gives the exact difference.
func (d Decimal) Sub(other Decimal) Decimal {
	if difference, fits := d.small.sub(other.small); fits && d.both(other) {
		return Decimal{small: difference}
	}
	return fromLibrary(d.value().Sub(other.value()))
}

// Compare is negative when d is smaller than other, positive when larger; the
// spelling does not matter.
func (d Decimal) Compare(other Decimal) int {
	if mine, others, _, fit := d.small.aligned(other.small); fit && d.both(other) {
		return cmp.Compare(mine, others)
	}
	return d.value().Cmp(other.value())
}

// Round gives the nearest amount; halves go away from zero, as on a bill. A
// product too large for an amount is ErrRange.
func (d Decimal) Round() (Amount, error) {
	if rounded, fits := d.small.round(); fits && !d.large {
		return rounded, nil
	}
	minor := d.value().Round(amountPlaces).Shift(amountPlaces)
	if minor.Abs().Cmp(largestAmount) > 0 {
		return 0, ErrRange
	}
	return Amount(minor.IntPart()), nil
}

// Near reports whether d and other are at most a tolerance apart, compared
// exactly, before any rounding.
func (d Decimal) Near(other Decimal, tolerance Amount) bool {
	apart := d.Sub(other)
	return apart.Compare(tolerance.Decimal()) <= 0 && apart.Compare((-tolerance).Decimal()) >= 0
}

var largestAmount = decimal.NewFromInt(math.MaxInt64)

// both reports whether the values of both are small.
func (d Decimal) both(other Decimal) bool { return !d.large && !other.large }

// value gives the number as the library has it. Digits that were sent passed
// split, so the parser cannot fail and cannot be made to work for long.
func (d Decimal) value() decimal.Decimal {
	switch {
	case !d.large:
		return decimal.New(d.small.count, -int32(d.small.places))
	case d.text != "":
		return decimal.RequireFromString(d.text)
	}
	return *d.result
}

func fromLibrary(value decimal.Decimal) Decimal { return Decimal{result: &value, large: true} }
