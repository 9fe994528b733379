package money

import (
	"errors"
	"strconv"
	"strings"
)

// Reasons why a text is refused. They are separate errors because they are fixed
// differently.
var (
	ErrSyntax = errors.New("not a plain decimal number")
	ErrPlaces = errors.New("too many decimal places")
	ErrRange  = errors.New("too many digits before the decimal point")
)

const (
	maxLength     = 64 // of the whole text; longer than any real number
	maxExponent   = 64 // likewise
	maxWhole      = 12 // digits before the decimal point
	amountPlaces  = 3  // the most that a currency has
	decimalPlaces = 10
)

// parsedNumber is a decimal split into its parts.
type parsedNumber struct {
	negative        bool
	whole, fraction string
}

// split checks the syntax before anything is computed: a short text such as
// 1e20000000 must not become millions of digits. The grammar is that of JSON
// without exponents, which Plain removes: no plus sign, no leading zeros, and
// digits on both sides of the point.
func split(text string) (parsedNumber, error) { return splitTo(text, maxWhole) }

// splitTo is split with another limit of digits before the point.
func splitTo(text string, most int) (parsedNumber, error) {
	var n parsedNumber
	if text != "" && text[0] == '-' {
		n.negative, text = true, text[1:]
	}
	whole, fraction, point := strings.Cut(text, ".")
	n.whole, n.fraction = whole, fraction
	switch {
	case !allDigits(n.whole), point && !allDigits(n.fraction):
		return n, ErrSyntax
	case len(n.whole) > 1 && n.whole[0] == '0':
		return n, ErrSyntax
	case len(n.whole) > most:
		return n, ErrRange
	case len(text) > maxLength:
		return n, ErrPlaces
	}
	return n, nil
}

// significant counts the decimals without trailing zeros.
func significant(fraction string) int { return len(strings.TrimRight(fraction, "0")) }

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// Plain writes a JSON number without its exponent: 1e-05 is 0.00001. A number
// out of range is refused before its zeros are written, so 1e20000000 costs
// nothing.
func Plain(text string) (string, error) {
	at := 0
	for at < len(text) && text[at]|0x20 != 'e' {
		at++
	}
	if at == len(text) {
		return text, nil
	}
	mantissa, sign := text[:at], ""
	if mantissa[0] == '-' {
		mantissa, sign = mantissa[1:], "-"
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	digits := strings.TrimLeft(whole+fraction, "0")
	if digits == "" {
		return sign + "0", nil
	}
	exponent, err := strconv.Atoi(text[at+1:])
	if err != nil || exponent > maxExponent || exponent < -maxExponent {
		if text[at+1] == '-' {
			return "", ErrPlaces
		}
		return "", ErrRange
	}
	// Number of digits before the decimal point; it may be zero or negative.
	point := len(whole) + exponent - (len(whole) + len(fraction) - len(digits))
	switch {
	case point > maxWhole:
		return "", ErrRange
	case point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits, nil
	case point >= len(digits):
		return sign + digits + strings.Repeat("0", point-len(digits)), nil
	}
	return sign + digits[:point] + "." + digits[point:], nil
}
