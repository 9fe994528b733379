// Package money has exact decimals: the digits of a JSON number are kept,
// without binary floats.
package money

import (
	"math"
	"strconv"

	"github.com/shopspring/decimal"
)

// Amount is money in thousandths of the currency's unit, with at most 12 digits
// before the decimal point. Most currencies use hundredths, some thousandths or
// whole units; which amounts are possible in a currency is for others to check.
//
// Amounts are added with +. The largest is below 10^15, and int64 holds the sum of
// 9,000 of them; MaxSum limits the amounts of one account.
type Amount int64

// MaxSum is the most that the amounts of one account or request may add up to. It
// keeps balances far from the overflow of 64 bits.
const MaxSum Amount = 1_000_000_000_000_000_000

// Unit is the amount of one unit of a currency.
const Unit Amount = 1000

// ParseAmount reads a decimal such as "12", "-0.5" or "1.500" exactly. Digits
// after the third decimal must be zero: money is never rounded silently.
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

// String writes the amount with two decimals, or three if it has them. There is no
// negative zero.
func (a Amount) String() string { return string(a.Append(nil)) }

// Append appends the amount to dst in the format of String.
func (a Amount) Append(dst []byte) []byte {
	whole, minor := a/Unit, a%Unit
	if a < 0 {
		dst = append(dst, '-')
		whole, minor = -whole, -minor
	}
	dst = strconv.AppendInt(dst, int64(whole), 10)
	dst = append(dst, '.', byte('0'+minor/100), byte('0'+minor/10%10))
	if minor%10 != 0 {
		dst = append(dst, byte('0'+minor%10))
	}
	return dst
}

// FromMinor returns an amount that was read as if it were in units of the currency,
// but is in minor units: 1999 is 19.99 with two decimals. It reports false if it
// is not a whole number of minor units.
func FromMinor(a Amount, places int) (Amount, bool) {
	if places < 0 || places > amountPlaces || a%Unit != 0 {
		return 0, false
	}
	return a / Amount(powers[places]), true
}

// Fits reports whether an amount has at most the given number of decimals.
func (a Amount) Fits(places int) bool { return places >= amountPlaces || a%MinorUnit(places) == 0 }

// MinorUnit is the smallest amount of a currency with the given number of decimals.
func MinorUnit(places int) Amount { return Amount(powers[amountPlaces-min(places, amountPlaces)]) }

// Decimal returns the amount for exact arithmetic.
func (a Amount) Decimal() Decimal {
	if a == math.MinInt64 { // it has no opposite
		return fromLibrary(decimal.New(int64(a), -amountPlaces))
	}
	return Decimal{small: small{int64(a), amountPlaces}}
}
