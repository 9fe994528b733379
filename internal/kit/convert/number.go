package convert

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// numberFormat describes how a table writes numbers. Digits are copied and never computed with, so
// nothing is rounded.
type numberFormat struct {
	decimal    byte       // decimal mark
	grouping   byte       // thousands separator, or 0; a space also means a no-break space
	minor      int        // how many of the last digits are decimals: 2 for cents
	reversed   bool       // debits are positive
	signs      []signWord // texts beside a number that say its sign, such as CR
	currencies []string   // texts beside a number that name its currency
}

// signWord is a text such as CR, and whether it makes a number negative.
type signWord struct {
	text     string
	negative bool
}

// maxDigits is more than any number of a book may have.
const maxDigits = 40

// figure is a number that was parsed: its digits and how many of them come before the decimal mark.
type figure struct {
	digits [maxDigits]byte
	count  int
	point  int
	marked bool // it has a decimal mark
}

// read converts a number to JSON: an optional minus, digits, a point and decimals. negative inverts
// the sign, as reversed does. It returns nil if text is not a number.
func (f *numberFormat) read(dst, text []byte, negative bool) []byte {
	if plain := f.pointPosition(text); plain > 0 { // the usual case
		if negative != f.reversed {
			dst = append(dst, '-')
		}
		return append(append(append(dst, text[:plain]...), '.'), text[plain:]...)
	}
	core, minus, _ := f.strip(text)
	var n figure
	// In minor units, a decimal mark shows that the number is in another unit.
	if !n.parse(core, f.decimal, f.grouping) || n.marked && f.minor > 0 {
		return nil
	}
	return f.write(dst, n.digits[:n.count], n.point-f.minor, (negative != minus) != f.reversed)
}

// strip removes what may stand around the digits, each at most once: a sign or a sign word, a
// currency, and parentheses, which mean a negative number. What is left over is not a number.
func (f *numberFormat) strip(text []byte) (core []byte, negative, signed bool) {
	priced := false
	if len(text) > 2 && text[0] == '(' && text[len(text)-1] == ')' {
		text, signed, negative = trimBlanks(text[1:len(text)-1]), true, true
	}
	for len(text) > 0 {
		rest := text
		if !signed {
			switch first, last := text[0], text[len(text)-1]; {
			case first == '-' || first == '+':
				signed, negative, rest = true, first == '-', text[1:]
			case last == '-' || last == '+': // some systems write 12,50-
				signed, negative, rest = true, last == '-', text[:len(text)-1]
			default:
				for _, word := range f.signs {
					if cut, found := cutWord(text, word.text); found {
						signed, negative, rest = true, word.negative, cut
						break
					}
				}
			}
		}
		if len(rest) == len(text) && !priced {
			for _, word := range f.currencies {
				if cut, found := cutWord(text, word); found {
					priced, rest = true, cut
					break
				}
			}
		}
		if len(rest) == len(text) {
			break
		}
		// Blanks separate a word from the digits. A sign stands beside them, or beside a word.
		text = bytes.TrimFunc(rest, isBlank)
	}
	return text, negative, signed
}

// cutWord removes a word from the start or the end of a text, in any case of its letters.
func cutWord(text []byte, word string) (rest []byte, found bool) {
	length := len(word)
	switch {
	case len(text) < length:
		return text, false
	case strings.EqualFold(string(text[:length]), word):
		return text[length:], true
	case strings.EqualFold(string(text[len(text)-length:]), word):
		return text[:len(text)-length], true
	}
	return text, false
}

// parse reads digits with an optional decimal mark and optional thousands separators. The first
// group has one to three digits and does not begin with a zero; every other group has exactly
// three. Otherwise 29.65 with a decimal comma would be 2965.
func (n *figure) parse(text []byte, decimal, grouping byte) bool {
	n.count, n.point, n.marked = 0, -1, false
	group, groups := 0, 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		size := 0
		if grouping != 0 && c-'0' > 9 {
			size = separatorSize(text[i:], grouping)
		}
		switch {
		case c-'0' <= 9:
			if n.count == maxDigits {
				return false
			}
			n.digits[n.count] = c
			n.count++
			group++
		case c == decimal && !n.marked:
			if groups > 0 && group != 3 {
				return false
			}
			n.point, n.marked = n.count, true
		case size > 0 && !n.marked:
			if groups == 0 && (group < 1 || group > 3 || n.digits[0] == '0') || groups > 0 && group != 3 {
				return false
			}
			groups, group = groups+1, 0
			i += size - 1
		default:
			return false
		}
	}
	if n.count == 0 || !n.marked && groups > 0 && group != 3 {
		return false
	}
	if !n.marked {
		n.point = n.count
	}
	return true
}

// separatorSize returns the length of the thousands separator at the start of a text, or 0.
func separatorSize(text []byte, grouping byte) int {
	if text[0] == grouping {
		return 1
	}
	if grouping == ' ' && text[0] >= utf8.RuneSelf {
		switch r, size := utf8.DecodeRune(text); r {
		case '\u00a0', '\u2009', '\u202f':
			return size
		}
	}
	return 0
}

// markReading is how the marks of a number can be understood.
type markReading uint8

// The readings. 1.234 is a decimal number in England and a thousand in Germany.
const (
	unmarkedReading markReading = iota // no mark, or not a number
	pointReading                       // only with a decimal point: 29.65, 1,234.5
	commaReading                       // only with a decimal comma: 29,65, 1.234,5, 1.234.567
	eitherReading                      // with both, as different numbers: 1.234
)

// readingOf determines how a number can be understood, whatever the map says.
func (f *numberFormat) readingOf(text []byte) markReading {
	core, _, _ := f.strip(text)
	return f.readingIn(core)
}

// readingIn determines the same for a number without a sign and a currency.
func (f *numberFormat) readingIn(core []byte) markReading {
	if !bytes.ContainsAny(core, ".,") {
		return unmarkedReading
	}
	var n figure
	point := n.parse(core, '.', ',')
	comma := n.parse(core, ',', '.')
	// 1'234.50 and 1 234,50
	if grouping := f.grouping; grouping != 0 && grouping != '.' && grouping != ',' {
		point, comma = point || n.parse(core, '.', grouping), comma || n.parse(core, ',', grouping)
	}
	switch {
	case point && comma:
		return eitherReading
	case point:
		return pointReading
	case comma:
		return commaReading
	}
	return unmarkedReading
}

// contradicts reports whether a number can only be understood with the other decimal mark.
func (f *numberFormat) contradicts(text []byte) bool {
	is := f.readingOf(text)
	return is == pointReading && f.decimal == ',' || is == commaReading && f.decimal == '.'
}

// hints reports whether a text that is not a number shows that its column is written in another way,
// whatever stands around its digits: 12,50 EUR has a decimal comma.
func (f *numberFormat) hints(text []byte) bool {
	is := f.readingIn(bytes.TrimFunc(text, func(r rune) bool { return r < '0' || r > '9' }))
	return is == pointReading && f.decimal == ',' || is == commaReading && f.decimal == '.' || f.minor > 0 && is != unmarkedReading
}

// doubtful reports whether a number has another meaning with the other decimal mark.
func (f *numberFormat) doubtful(text []byte) bool {
	return bytes.ContainsAny(text, ".,") && (f.decimal == '.' || f.decimal == ',') && f.readingOf(text) == eitherReading
}

// whyNot explains why a text is not a number, and what to do.
func (f *numberFormat) whyNot(text []byte) string {
	core, _, signed := f.strip(text)
	var n figure
	switch {
	case signed && f.signedAgain(core):
		return "it has two signs; correct it, so that it has one"
	case f.minor > 0 && n.parse(core, f.decimal, f.grouping):
		return "it has a decimal mark, and minor_units is for numbers without one; set minor_units only for the rows in minor units"
	case f.contradicts(text):
		return fmt.Sprintf("it is not a number with the decimal mark %q, but it is one with the other; see decimal and grouping, which each attr can set", f.decimal)
	case n.parse(core, f.decimal, '.'), n.parse(core, f.decimal, ','), n.parse(core, f.decimal, ' '), n.parse(core, f.decimal, '\''):
		return "it has thousands separators; see grouping"
	}
	if word := bytes.Trim(core, "0123456789.,' \u00a0\u202f+-()"); len(word) > 0 && len(word) < len(core) && bytes.Count(core, word) == 1 {
		if bytes.EqualFold(word, []byte{'e'}) {
			return "it is written with an exponent, as spreadsheets shorten numbers; export the column as text"
		}
		return fmt.Sprintf("it is not a number because of %s; see signs for words such as CR, and currency for currencies", shorten(word))
	}
	return fmt.Sprintf("it is not a number with the decimal mark %q; see decimal and grouping", f.decimal)
}

// signedAgain reports whether a number has a further sign after one was removed.
func (f *numberFormat) signedAgain(core []byte) bool {
	trimmed := bytes.Trim(core, "+-()\u2212")
	return len(trimmed) < len(core) || slices.ContainsFunc(f.signs, func(word signWord) bool { _, found := cutWord(core, word.text); return found })
}

// copyNumber appends a number that only needs another decimal mark to be valid JSON, with at most
// the given number of decimals. It reports whether it could, which is usual.
func (f *numberFormat) copyNumber(dst, text []byte, places int) ([]byte, bool) {
	if f.reversed || len(text) > maxDigits {
		return dst, false
	}
	if f.minor > 0 {
		plain := f.pointPosition(text)
		// Too many decimals are reported by the general path.
		if plain == 0 || f.minor > places {
			return dst, false
		}
		return append(append(append(dst, text[:plain]...), '.'), text[plain:]...), true
	}
	point := len(text)
	for i, c := range text {
		if c-'0' <= 9 {
			continue
		}
		if c != f.decimal || point < len(text) {
			return dst, false
		}
		point = i
	}
	// JSON does not allow .5, 5. and 05; the general path rewrites them. With places -1, as for
	// integers, no decimal mark is allowed.
	if point == 0 || point == len(text)-1 || text[0] == '0' && point > 1 || len(text)-point-1 > places {
		return dst, false
	}
	// 1.234 may be a thousand: the general path decides.
	if len(text)-point == 4 && point <= 3 {
		return dst, false
	}
	from := len(dst)
	if dst = append(dst, text...); point < len(text) {
		dst[from+point] = '.'
	}
	return dst, true
}

// pointPosition returns where the decimal point goes in a number of digits only, or 0 if the
// general path is needed.
func (f *numberFormat) pointPosition(text []byte) int {
	if f.minor == 0 || len(text) <= f.minor || len(text) > maxDigits || text[0] == '0' {
		return 0
	}
	for _, c := range text {
		if c-'0' > 9 {
			return 0
		}
	}
	return len(text) - f.minor
}

// write inserts the decimal point, which may be before the first digit.
func (f *numberFormat) write(dst, digits []byte, point int, negative bool) []byte {
	// Minus zero is written as zero.
	zero := true
	for _, c := range digits {
		zero = zero && c == '0'
	}
	if negative && !zero {
		dst = append(dst, '-')
	}
	whole := 0
	for whole < point-1 && digits[whole] == '0' {
		whole++ // leading zeros
	}
	if point <= 0 {
		dst = append(dst, '0')
	} else {
		dst = append(dst, digits[whole:point]...)
	}
	if point < len(digits) {
		dst = append(dst, '.')
		for ; point < 0; point++ {
			dst = append(dst, '0')
		}
		dst = append(dst, digits[point:]...)
	}
	return dst
}

// decimalsOf counts the decimals of a number returned by read, without trailing zeros.
func decimalsOf(number []byte) int {
	end := len(number)
	for end > 0 && number[end-1] == '0' {
		end--
	}
	for i := range end {
		if number[i] == '.' {
			return end - i - 1
		}
	}
	return 0
}
