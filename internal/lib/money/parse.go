package money

import (
	"errors"
	"strconv"
	"strings"
)

// Why a text is refused. The three are kept apart because a supplier mends
// them differently.
var (
	ErrSyntax = errors.New("not a plain decimal number")
	ErrPlaces = errors.New("too many decimal places")
	ErrRange  = errors.New("too many digits before the decimal point")
)

const (
	maxLength     = 64 // of the whole text; far beyond any honest number
	maxExponent   = 64 // likewise
	maxWhole      = 12 // digits before the point, for amounts and decimals alike
	amountPlaces  = 2
	decimalPlaces = 10
)

// number is a decimal cut into its parts, not yet converted.
type number struct {
	negative        bool
	whole, fraction string
}

// split checks the spelling before anything is computed: a few characters such
// as 1e20000000 must not become millions of digits, so there are no exponents
// here; Plain takes the reasonable ones of JSON numbers away. The grammar is JSON's without them: no plus sign, no bare point, no
// leading zeros.
func split(text string) (number, error) {
	var n number
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
	case len(n.whole) > maxWhole:
		return n, ErrRange
	case len(text) > maxLength:
		return n, ErrPlaces
	}
	return n, nil
}

// significant counts the decimals that matter: zeros at the end do not.
func significant(fraction string) int { return len(strings.TrimRight(fraction, "0")) }

func allDigits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}

// Plain spells a JSON number without its exponent, digit by digit: 1e-05 is
// 0.00001. One whose value could not be kept anyway is refused before its
// zeros are written out, so that 1e20000000 costs nothing.
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
	// How many of the digits stand before the point; it may be none or fewer.
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
