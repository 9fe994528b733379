package contract

import (
	"net/mail"
	"strings"
	"unicode"
)

// ValidEmail reports whether text is a single email address whose domain has a
// dot. Quoted local parts, comments, address literals and display names are
// refused: no customer has them, and mail programs handle them differently.
func ValidEmail(text string) bool {
	local, domain, found := cutLast(text, '@')
	if !found || len(text) > maxEmail || len(local) > 64 || !validDomain(domain) {
		return false
	}
	if plainLocal(local) {
		return true
	}
	address, err := mail.ParseAddress(text)
	return err == nil && address.Name == "" && address.Address == text && !strings.ContainsFunc(text, isInvisible)
}

// plainLocal accepts the usual form of a local part without parsing the full
// grammar.
func plainLocal(local string) bool {
	for i := range len(local) {
		c := local[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '+', c == '-':
		case c == '.' && i > 0 && i < len(local)-1 && local[i-1] != '.':
		default:
			return false
		}
	}
	return local != ""
}

// validDomain requires two or more labels of letters, digits and inner hyphens.
// Letters may be of any script. The last label must not be a number.
func validDomain(domain string) bool {
	labels, numeric := 0, false
	for label := range strings.SplitSeq(domain, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		numeric = true
		for _, r := range label {
			ascii := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '-'
			if !ascii && (r < '0' || r > '9') && (r < 0x80 || !unicode.In(r, unicode.L, unicode.M, unicode.Nd)) {
				return false
			}
			numeric = numeric && r >= '0' && r <= '9'
		}
		labels++
	}
	return labels >= 2 && !numeric
}

// testDomains never receive mail: they are reserved, or commonly used as
// placeholders.
var testDomains = []string{
	"example.com", "example.net", "example.org", "example.co.uk", "test.com",
	"example", "test", "invalid", "localhost", "localdomain",
}

// testEmail reports whether an address is at a test domain.
func testEmail(text string) bool {
	_, domain, _ := cutLast(text, '@')
	for _, reserved := range testDomains {
		rest := len(domain) - len(reserved)
		if rest >= 0 && strings.EqualFold(domain[rest:], reserved) && (rest == 0 || domain[rest-1] == '.') {
			return true
		}
	}
	return false
}

// cutLast cuts text at the last mark, because a local part may contain one.
func cutLast(text string, mark byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(text, mark); i >= 0 {
		return text[:i], text[i+1:], true
	}
	return text, "", false
}
