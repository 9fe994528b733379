package payvendor

import (
	"regexp"
	"strconv"
	"strings"
)

// lastDigits returns the last four digits of a number, masked or not.
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
	// Schemes and statuses are shown to people, so they must be plain words without long
	// runs of digits, which could be a card number.
	wordPattern   = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9 _.:/-]{0,39}$`)
	digitsPattern = regexp.MustCompile(`[0-9][0-9 .:/_-]{3,}[0-9]`)
)

// plainWord returns a status or scheme if it looks like one, and otherwise "".
func plainWord(text string) string {
	if !wordPattern.MatchString(text) || digitsPattern.MatchString(text) {
		return ""
	}
	return text
}

var (
	yearFirst  = regexp.MustCompile(`^(\d{4})-(\d{1,2})(?:-\d{1,2})?$`)
	monthFirst = regexp.MustCompile(`^(\d{1,2}) ?[/-] ?(\d{2}|\d{4})$`)
)

// expiryText parses the expiry of a card: 2030-08, 2030-08-31, 08/30 or 08/2030. Anything
// else gives "".
func expiryText(text string) string {
	if found := yearFirst.FindStringSubmatch(text); found != nil {
		return expiry(found[1], found[2])
	}
	if found := monthFirst.FindStringSubmatch(text); found != nil {
		return expiry(found[2], found[1])
	}
	return ""
}

// expiry formats a year and a month; "" unless both are valid.
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
