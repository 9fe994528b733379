package rules

import (
	"math/bits"
	"strings"
)

// traits describes all strings of a body after one pass over it. Most bodies are
// ASCII without escapes or control characters; then no string needs a second
// look.
type traits struct {
	ascii      bool // no byte is above 0x7e
	noControls bool // no byte is a control character
	noEscapes  bool // no byte is a backslash
}

// special reports whether any string may contain an escape or a control
// character. U+0080 to U+009F start with the byte C2.
func (t traits) special(text string) bool {
	return !t.noEscapes || !t.ascii && (strings.IndexByte(text, 0x7f) >= 0 || strings.IndexByte(text, 0xc2) >= 0)
}

// ones and highs repeat one byte eight times.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// loadWord returns eight bytes as a little-endian integer.
func loadWord(text string, at int) uint64 {
	t := text[at : at+8]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24 |
		uint64(t[4])<<32 | uint64(t[5])<<40 | uint64(t[6])<<48 | uint64(t[7])<<56
}

// half returns four bytes as a little-endian integer.
func half(text string, at int) uint64 {
	t := text[at : at+4]
	return uint64(t[0]) | uint64(t[1])<<8 | uint64(t[2])<<16 | uint64(t[3])<<24
}

// zeros sets the highest bit of the lowest byte that is 0, or returns 0 if there
// is none. Bytes above it may be marked without being 0.
func zeros(word uint64) uint64 { return (word - ones) &^ word & highs }

// scanTraits looks at a body eight bytes at a time.
func scanTraits(text string) traits {
	var high, low, back uint64
	for ; len(text) >= 8; text = text[8:] {
		w := loadWord(text, 0)
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

// indexQuote returns the index of the next quote, or -1. Names and most values
// are so short that calling the library takes longer.
func indexQuote(text string) int {
	at := 0
	for ; at+8 <= min(len(text), shortString); at += 8 {
		if found := zeros(loadWord(text, at) ^ '"'*ones); found != 0 {
			return at + bits.TrailingZeros64(found)/8
		}
	}
	if next := strings.IndexByte(text[at:], '"'); next >= 0 {
		return at + next
	}
	return -1
}

// shortString is how far indexQuote searches before it calls the library.
const shortString = 24
