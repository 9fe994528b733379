package contract

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/nyaruka/phonenumbers"
)

const detailPhone = "Must contain only digits, spaces and ( ) . / -, with an optional leading + and an optional extension such as ext. 12 or x12."

// WarmUp loads the tables of the phone library, which takes a few milliseconds,
// so that the first request does not have to wait.
func WarmUp() { possibleByLibrary("+442079460000", "GB") }

// phoneSyntax reports whether text is written like a phone number, with an
// optional extension. Letters, tel: URIs and non-ASCII digits are refused
// although the library accepts them: the stored number must mean the same to
// every system.
func phoneSyntax(text string) bool {
	if at := strings.IndexAny(text, "eExX"); at > 0 {
		return extensionSyntax(text[at:]) && phoneSyntax(text[:at])
	}
	digits := 0
	for i := range len(text) {
		switch c := text[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '+' && i == 0:
		case c == ' ', c == '(', c == ')', c == '.', c == '/', c == '-':
		default:
			return false
		}
	}
	return digits > 0
}

// extensionSyntax accepts x12, ext 12, ext. 12 and extension 12.
func extensionSyntax(text string) bool {
	text = strings.ToLower(text)
	for _, word := range []string{"extension", "ext.", "ext", "x"} {
		if digits, found := strings.CutPrefix(text, word); found {
			digits = strings.TrimPrefix(digits, " ")
			return len(digits) > 0 && len(digits) <= 7 && strings.Trim(digits, "0123456789") == ""
		}
	}
	return false
}

// possiblePhone reports whether a number is possible in a region or, with a
// plus, in any country. The library is the slowest part of checking an account,
// so simple British numbers are decided here and other results are cached.
func possiblePhone(text, region string) bool {
	if region == "GB" && simpleUKPhone(text) {
		return true
	}
	return possiblePhones.possible(text, region)
}

// simpleUKPhone accepts +44 or 0 and ten digits, the first of them not zero,
// with single spaces between them. A test checks against the library that every
// such number is possible.
func simpleUKPhone(text string) bool {
	var rest string
	switch {
	case len(text) > 3 && text[:3] == "+44":
		rest = text[3:]
		if rest[0] == ' ' {
			rest = rest[1:]
		}
	case len(text) > 1 && text[0] == '0':
		rest = text[1:]
	default:
		return false
	}
	if rest == "" || rest[0] < '1' || rest[0] > '9' {
		return false
	}
	digits := 0
	for i := range len(rest) {
		switch c := rest[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == ' ' && i < len(rest)-1 && rest[i+1] != ' ':
		default:
			return false
		}
	}
	return digits == 10
}

// possibleByLibrary asks the library, which takes a hundred times as long as
// checking any other field.
func possibleByLibrary(text, region string) bool {
	number, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsPossibleNumber(number)
}

// assignedPhone reports whether a number is in an assigned range.
func assignedPhone(text, region string) bool {
	number, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsValidNumber(number)
}

// phoneCache is a lock-free cache with a fixed number of slots. A new result
// replaces the old one in its slot.
type phoneCache struct {
	seed  maphash.Seed
	slots [4096]atomic.Pointer[cachedPhone]
}

// cachedPhone is one cached result.
type cachedPhone struct {
	text, region string
	possible     bool
}

var possiblePhones = &phoneCache{seed: maphash.MakeSeed()}

// possible returns the cached result or asks the library. The random seed
// prevents callers from choosing numbers that evict each other.
func (m *phoneCache) possible(text, region string) bool {
	place := &m.slots[maphash.String(m.seed, text)%uint64(len(m.slots))]
	if known := place.Load(); known != nil && known.text == text && known.region == region {
		return known.possible
	}
	// Clone the text: it is part of a request body, which must not be kept in
	// memory.
	answer := &cachedPhone{text: strings.Clone(text), region: region, possible: possibleByLibrary(text, region)}
	place.Store(answer)
	return answer.possible
}
