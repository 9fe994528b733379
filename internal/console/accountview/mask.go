package accountview

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maskDot stands for a letter that is not shown.
const maskDot = "•"

// maxMaskLength keeps a mask from telling how long something long is.
const maxMaskLength = 12

// MaskName leaves the first letter of each word: Ada Lovelace is A•• L•••••••.
// Whoever has the customer on the telephone recognises it, nobody else does.
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

// MaskEmail leaves the domain, as far as there is one.
func MaskEmail(address string) string {
	at := strings.LastIndexByte(address, '@')
	switch {
	case address == "":
		return ""
	case at < 0:
		return MaskAll(address)
	}
	// Always as many dots, so that nothing is told of what stands before the @.
	return dots(3) + address[at:]
}

// MaskPhone leaves the last two digits.
func MaskPhone(number string) string {
	// Of a short number two digits would be nearly all.
	if utf8.RuneCountInString(number) < 5 {
		return MaskAll(number)
	}
	return dots(6) + " " + number[len(number)-2:]
}

// MaskAll leaves nothing but that there is something.
func MaskAll(text string) string {
	if text == "" {
		return ""
	}
	return dots(3)
}

// dots tells how long a text is only roughly: the exact length of a name would help
// to guess it.
func dots(count int) string { return strings.Repeat(maskDot, min(max(count, 0), maxMaskLength)) }
