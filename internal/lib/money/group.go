package money

import "strings"

// GroupDigits puts commas between the thousands of a decimal number.
func GroupDigits(number string) string {
	sign, digits := "", number
	if rest, negative := strings.CutPrefix(number, "-"); negative {
		sign, digits = "-", rest
	}
	whole, fraction, hasFraction := strings.Cut(digits, ".")
	for at := len(whole) - 3; at > 0; at -= 3 {
		whole = whole[:at] + "," + whole[at:]
	}
	if hasFraction {
		whole += "." + fraction
	}
	return sign + whole
}
