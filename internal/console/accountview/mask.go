package accountview

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maskDot replaces a letter.
const maskDot = "•"

// maxMaskLength hides the length of long texts.
const maxMaskLength = 12

// MaskName leaves the first letter of each word: Ada Lovelace is A•• L•••••••. That
// is enough to recognise a caller.
func MaskName(name string) string {
	words := strings.Fields(name)
	for i, word := range words {
		first, size := utf8.DecodeRuneInString(word)
		if !unicode.IsLetter(first) && !unicode.IsDigit(first) {
			words[i] = dots(utf8.RuneCountInString(word))
			continue
		}
		words[i] = word[:size] + dots(utf8.RuneCountInString(word)-1)
	}
	return strings.Join(words, " ")
}

// MaskEmail leaves the domain.
func MaskEmail(address string) string {
	at := strings.LastIndexByte(address, '@')
	switch {
	case address == "":
		return ""
	case at < 0:
		return MaskAll(address)
	}
	// A fixed number of dots hides the length.
	return dots(3) + address[at:]
}

// MaskPhone leaves the last two digits.
func MaskPhone(number string) string {
	// Two digits would be most of a short number.
	if utf8.RuneCountInString(number) < 5 {
		return MaskAll(number)
	}
	return dots(6) + " " + number[len(number)-2:]
}

// MaskAll hides everything but the fact that there is a value.
func MaskAll(text string) string {
	if text == "" {
		return ""
	}
	return dots(3)
}

// dots writes at most maxMaskLength dots.
func dots(count int) string { return strings.Repeat(maskDot, min(max(count, 0), maxMaskLength)) }

// number leaves the last three characters of an identifier, which a caller can read
// from a bill or a meter and which tells two of an account apart.
func (o Options) number(number string) string {
	const shown = 3
	letters := []rune(number)
	switch {
	// Three characters would be much of a short number.
	case o.Personal || len(letters) < 3*shown:
		return o.mask(MaskAll)(number)
	case o.PartialMasks:
		return dots(6) + " " + string(letters[len(letters)-shown:])
	}
	return hiddenMask + string(letters[len(letters)-shown:])
}
