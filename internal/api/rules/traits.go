package rules

import (
	"math/bits"
	"strings"
)

// traits is what one look at a whole body tells about each of its strings. Most
// bodies are plain, flat and ASCII, and then no string is looked at twice.
type traits struct {
	ascii      bool // no byte of it is over 0x7e
	noControls bool // no byte of it is a control character
	noEscapes  bool // no byte of it is a backslash
}

// special tells whether any string can have an escape or a control character. U+0080
// to U+009F begin with the byte C2.
func (t traits) special(text string) bool {
	return !t.noEscapes || !t.ascii && (strings.IndexByte(text, 0x7f) >= 0 || strings.IndexByte(text, 0xc2) >= 0)
}

// The same byte eight times.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// word gives the eight bytes at a place, the first of them lowest.
func word(text string, at int) uint64 {
	t := text[at : at+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// half gives the four bytes at a place.
func half(text string, at int) uint64 {
	t := text[at : at+4]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24
}

// zeros marks the lowest byte of a word that is 0 by its highest bit, and none
// when there is none. Bytes above the lowest may be marked without being 0.
func zeros(word uint64) uint64 { return (word - ones) &^ word & highs }

// scanTraits looks at a body, eight bytes at a time.
func scanTraits(text string) traits {
	var high, low, back uint64
	for ; len(text) >= 8; text = text[8:] {
		w := word(text, 0)
		high |= w | (w + ones) // 0x7f becomes 0x80; what a carry spoils is over 0x7f itself
		low |= (w - ' '*ones) &^ w
		back |= zeros(w ^ '\\'*ones)
	}
	for at := range len(text) {
		c := uint64(text[at])
		high |= c | (c + 1)
		low |= (c - ' ') &^ c & 0x80
		if c == '\\' {
			back = 1
		}
	}
	return traits{ascii: high&highs == 0, noControls: low&highs == 0, noEscapes: back == 0}
}

// indexQuote gives the place of the next quote, -1 when there is none. Names and most
// values are so short that a call of the library takes longer than they do.
func indexQuote(text string) int {
	at := 0
	for ; at+8 <= min(len(text), shortString); at += 8 {
		if found := zeros(word(text, at) ^ '"'*ones); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	if next := strings.IndexByte(text[at:], '"'); next >= 0 {
		return at + next
	}
	return -1
}

// shortString is how far it pays to look without the library.
const shortString = 24
