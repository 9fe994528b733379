package payvendor

import (
	"regexp"
	"strconv"
	"strings"
)

// lastDigits keeps the last four digits of a masked number, and of an unmasked
// one that should never have been sent.
func lastDigits(text string) string {
	var digits []byte
	for _, char := range []byte(text) {
		if char >= '0' && char <= '9' {
			digits = append(digits, char)
		}
	}
	return string(digits[max(0, len(digits)-4):])
}

var (
	// What a vendor calls its schemes and states is shown to people, so it is only
	// taken over where it is a plain word and holds no run of digits: that could be a
	// whole card number.
	wordForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _.:/-]{0,39}$`)
	runForm  = regexp.MustCompile(`[0-9][0-9 .:/_-]{3,}[0-9]`)
)

// word keeps a status or scheme when it looks like one. Text with a row of
// digits may be an account number in the wrong place and is dropped.
func word(text string) string {
	if !wordForm.MatchString(text) || runForm.MatchString(text) {
		return ""
	}
	return text
}

var (
	// Vendors write the end of a card in several ways; we keep one.
	yearFirst  = regexp.MustCompile(`^(\d{4})-(\d{1,2})(?:-\d{1,2})?$`)
	monthFirst = regexp.MustCompile(`^(\d{1,2}) ?[/-] ?(\d{2}|\d{4})$`)
)

// expiryText reads the usual spellings of a card's end: 2030-08, 2030-08-31,
// 08/30, 08/2030. Any other is taken for none.
func expiryText(text string) string {
	if found := yearFirst.FindStringSubmatch(text); found != nil {
		return expiry(found[1], found[2])
	}
	if found := monthFirst.FindStringSubmatch(text); found != nil {
		return expiry(found[2], found[1])
	}
	return ""
}

// expiry puts a year and a month together; "" unless both make sense.
func expiry(year, month string) string {
	y, err1 := strconv.Atoi(year)
	m, err2 := strconv.Atoi(month)
	if err1 == nil && y >= 0 && y < 100 {
		y += 2000
	}
	if err1 != nil || err2 != nil || y < 2000 || y > 2099 || m < 1 || m > 12 {
		return ""
	}
	return strconv.Itoa(y) + "-" + strings.Repeat("0", 2-len(strconv.Itoa(m))) + strconv.Itoa(m)
}
