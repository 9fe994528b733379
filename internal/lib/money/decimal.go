package money

import (
	"cmp"
	"math"

	"github.com/shopspring/decimal"
)

// Decimal is an exact quantity or rate that keeps its digits as sent: 1.50 stays
// 1.50. The zero Decimal is 0.
type Decimal struct {
	text   string           // as sent; "" for a result
	small  small            // the value, unless large
	result *decimal.Decimal // result of arithmetic that does not fit small
	large  bool             // the value is in text or result
}

// ParseDecimal reads a decimal with at most 12 digits before and 10 after the
// decimal point, not counting trailing zeros.
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

// NewDecimal returns a decimal that was parsed before, from its digits and
// Parts.
func NewDecimal(text string, count int64, places uint8) Decimal {
	return Decimal{text: text, small: small{count, places}}
}

// Parts returns a decimal as an integer and a number of decimal places, if it
// fits an int64.
func (d Decimal) Parts() (count int64, places uint8, fits bool) {
	return d.small.count, d.small.places, !d.large
}

// String returns the digits as sent.
func (d Decimal) String() string {
	if d.text == "" {
		return d.value().String()
	}
	return d.text
}

// Mul returns the exact product, which may have more digits than ParseDecimal
// accepts.
func (d Decimal) Mul(other Decimal) Decimal {
	if product, fits := d.small.mul(other.small); fits && d.both(other) {
		return Decimal{small: product}
	}
	return fromLibrary(d.value().Mul(other.value()))
}

// Add returns the exact sum.
func (d Decimal) Add(other Decimal) Decimal {
	if sum, fits := d.small.add(other.small); fits && d.both(other) {
		return Decimal{small: sum}
	}
	return fromLibrary(d.value().Add(other.value()))
}

// Sub returns the exact difference.
func (d Decimal) Sub(other Decimal) Decimal {
	if difference, fits := d.small.sub(other.small); fits && d.both(other) {
		return Decimal{small: difference}
	}
	return fromLibrary(d.value().Sub(other.value()))
}

// Compare is negative if d is less than other and positive if it is greater.
func (d Decimal) Compare(other Decimal) int {
	if mine, others, _, fit := d.small.aligned(other.small); fit && d.both(other) {
		return cmp.Compare(mine, others)
	}
	return d.value().Cmp(other.value())
}

// Round returns the nearest amount with a number of decimals, with halves rounded
// away from zero as on a bill. It returns ErrRange if the value is too large.
func (d Decimal) Round(places int) (Amount, error) {
	if rounded, fits := d.small.round(places); fits && !d.large {
		return rounded, nil
	}
	minor := d.value().Round(int32(places)).Shift(amountPlaces) //nolint:gosec // at most three
	if minor.Abs().Cmp(largestAmount) > 0 {
		return 0, ErrRange
	}
	return Amount(minor.IntPart()), nil
}

// Near reports whether d and other differ by at most tolerance, compared
// exactly.
func (d Decimal) Near(other Decimal, tolerance Amount) bool {
	apart := d.Sub(other)
	return apart.Compare(tolerance.Decimal()) <= 0 && apart.Compare((-tolerance).Decimal()) >= 0
}

var largestAmount = decimal.NewFromInt(math.MaxInt64)

// both reports whether both values are small.
func (d Decimal) both(other Decimal) bool { return !d.large && !other.large }

// value returns the number as the library's type. The digits passed split, so
// parsing cannot fail or take long.
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

// Digits returns how many digits a decimal has before the decimal point and how
// many after it, without leading and trailing zeros.
func (d Decimal) Digits() (before, after int) {
	n, _ := split(d.String()) // it was parsed once already
	if n.whole == "0" {
		n.whole = ""
	}
	return len(n.whole), significant(n.fraction)
}
