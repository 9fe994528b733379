package money

import (
	"errors"
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
// as 1e20000000 must not become millions of digits, so there are no exponents.
// The grammar is JSON's without them: no plus sign, no bare point, no
// leading zeros.
func split(text string) (number, error) {
	var n number
	if text != "" && text[0] == '-' {
		n.negative, text = true, text[1:]
	}
	whole, fraction, point := strings.Cut(text, ".")
	n.whole, n.fraction = whole, fraction
	switch {
	case !digits(n.whole), point && !digits(n.fraction):
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

func digits(text string) bool {
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return false
		}
	}
	return text != ""
}
