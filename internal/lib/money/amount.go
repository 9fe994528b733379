// Package money has exact decimals: the digits of a JSON number are kept,
// without binary floats.
package money

import (
	"math"
	"strconv"

	"github.com/shopspring/decimal"
)

// Amount is money in minor units (pence), with at most 12 digits before the
// decimal point.
//
// Amounts are added with +. The largest is below 10^14 minor units, so int64
// holds the sum of 92,000 of them, and a request has at most 10,000.
type Amount int64

// ParseAmount reads a decimal such as "12", "-0.5" or "1.500" exactly. Digits
// after the second decimal must be zero: money is never rounded silently.
func ParseAmount(text string) (Amount, error) {
	if value, is := parseSmall(text); is && value.places <= amountPlaces {
		return Amount(value.count * powers[amountPlaces-value.places]), nil
	}
	n, err := split(text)
	if err != nil {
		return 0, err
	}
	if significant(n.fraction) > amountPlaces {
		return 0, ErrPlaces
	}
	value := Amount(0)
	for i := range len(n.whole) {
		value = value*10 + Amount(n.whole[i]-'0')
	}
	for i := range amountPlaces {
		value *= 10
		if i < len(n.fraction) {
			value += Amount(n.fraction[i] - '0')
		}
	}
	if n.negative {
		value = -value
	}
	return value, nil
}

// String writes the amount with two decimals. There is no negative zero.
func (a Amount) String() string { return string(a.Append(nil)) }

// Append appends the amount to dst in the format of String.
func (a Amount) Append(dst []byte) []byte {
	whole, minor := a/100, a%100
	if a < 0 {
		dst = append(dst, '-')
		whole, minor = -whole, -minor
	}
	dst = strconv.AppendInt(dst, int64(whole), 10)
	return append(dst, '.', byte('0'+minor/10), byte('0'+minor%10))
}

// Decimal returns the amount for exact arithmetic.
func (a Amount) Decimal() Decimal {
	if a == math.MinInt64 { // it has no opposite
		return fromLibrary(decimal.New(int64(a), -amountPlaces))
	}
	return Decimal{small: small{int64(a), amountPlaces}}
}
