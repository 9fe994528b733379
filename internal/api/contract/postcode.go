package contract

import "strings"

// ukPostcode reports whether text has the form of a British postcode, in upper
// or lower case, with or without a space before the last three characters. Codes
// of overseas territories count as British.
func ukPostcode(text string) bool {
	text = strings.ToUpper(text)
	if len(text) < 5 {
		return false
	}
	outward, inward := text[:len(text)-3], text[len(text)-3:]
	outward = strings.TrimSuffix(outward, " ")
	if !isDigit(inward[0]) || !inwardLetter(inward[1]) || !inwardLetter(inward[2]) {
		return false
	}
	switch outward {
	case "GIR":
		return inward == "0AA"
	case "ASCN", "BBND", "BIQQ", "FIQQ", "PCRN", "SIQQ", "STHL", "TDCU", "TKCA":
		return inward == "1ZZ"
	}
	return outwardForm(outward)
}

// outwardForm accepts A9, A99, A9A, AA9, AA99 and AA9A with the letters that
// Royal Mail uses in each position.
func outwardForm(outward string) bool {
	if len(outward) < 2 || !letterExcept(outward[0], "QVX") {
		return false
	}
	area := 1
	if letterExcept(outward[1], "IJZ") {
		area = 2
	}
	district := outward[area:]
	switch len(district) {
	case 1:
		return isDigit(district[0])
	case 2:
		last := "ABCDEFGHJKPSTUW"
		if area == 2 {
			last = "ABEHMNPRVWXY"
		}
		return isDigit(district[0]) && (isDigit(district[1]) || strings.IndexByte(last, district[1]) >= 0)
	}
	return false
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// inwardLetter excludes letters that look like others in handwriting.
func inwardLetter(c byte) bool { return letterExcept(c, "CIKMOV") }

// letterExcept reports whether c is an upper-case letter that is not excluded.
func letterExcept(c byte, excluded string) bool {
	return c >= 'A' && c <= 'Z' && strings.IndexByte(excluded, c) < 0
}
