package contract

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/nyaruka/phonenumbers"
)

const detailPhone = "Enter a phone number with digits, spaces and ( ) . / - only, and + at the beginning if it is international; an extension may follow, such as ext. 12 or x12."

// WarmUp loads the phone library's tables, which takes a few milliseconds, so
// that the first request need not wait for it.
func WarmUp() { possibleByLibrary("+442079460000", "GB") }

// phoneSyntax reports whether a text is written like a number that can be
// dialled, with an extension perhaps. Letters, tel: forms and digits of other
// scripts, all of which the library would take, are refused: what is kept must
// mean the same to every system that reads it later.
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

// extensionSyntax takes x12, ext 12, ext. 12 and extension 12.
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
// plus, anywhere: the library's "possible number". The library is the most
// expensive part of checking an account, so plain British numbers are decided
// here and the answers for all others are remembered.
func possiblePhone(text, region string) bool {
	if region == "GB" && simpleUKPhone(text) {
		return true
	}
	return possiblePhones.possible(text, region)
}

// simpleUKPhone accepts +44 or 0 and ten digits of which the first is no zero,
// with single spaces between them. Every such number has a possible length,
// which a test proves against the library.
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

// possibleByLibrary asks the library, which takes a hundred times as long as the
// rest of a field.
func possibleByLibrary(text, region string) bool {
	number, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsPossibleNumber(number)
}

// assignedPhone reports whether a number lies in a range that is in use.
func assignedPhone(text, region string) bool {
	number, err := phonenumbers.Parse(text, region)
	return err == nil && phonenumbers.IsValidNumber(number)
}

// phoneCache remembers answers of the phone library in a fixed number of places;
// a newer answer takes the place of an older one. It needs no lock.
type phoneCache struct {
	seed  maphash.Seed
	slots [4096]atomic.Pointer[cachedPhone]
}

// cachedPhone is a question of late and its answer.
type cachedPhone struct {
	text, region string
	possible     bool
}

var possiblePhones = &phoneCache{seed: maphash.MakeSeed()}

// possible answers from memory where it can. The seed is drawn at the start, so
// that nobody can choose numbers that push each other out.
func (m *phoneCache) possible(text, region string) bool {
	place := &m.slots[maphash.String(m.seed, text)%uint64(len(m.slots))]
	if known := place.Load(); known != nil && known.text == text && known.region == region {
		return known.possible
	}
	// The text is a cut of a request body, which must not be kept alive.
	answer := &cachedPhone{text: strings.Clone(text), region: region, possible: possibleByLibrary(text, region)}
	place.Store(answer)
	return answer.possible
}
