package convert

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// records reads the rows of a block.
type records struct {
	text             []byte
	delimiter, quote byte
	between          byte // the delimiter as in the file
	width            int  // columns of the table, to notice quotes that are not closed; 0: not
	line             int  // of the next row

	fields [][]byte // of the current row
	at     int      // its line
	inner  int      // line ends within its values
	wrong  string   // what is wrong with it, or ""
	began  int      // start in the text, if it was read by next
	ended  int      // end in the text
}

// reset starts with another block and reuses the memory.
func (r *records) reset(b block) {
	r.text, r.line, r.ended = b.text, b.line, 0
}

// next reads a row. Empty lines are counted but are not rows. Quoted text may contain line ends.
func (r *records) next() bool {
	text, i := r.text, r.ended
	// A carriage return ends a line only before a line feed or at the very end.
	for i < len(text) && (text[i] == '\n' || text[i] == '\r' && (i+1 == len(text) || text[i+1] == '\n')) {
		if text[i] == '\n' {
			r.line++
		}
		i++
	}
	if i >= len(text) {
		return false
	}
	r.fields, r.at, r.wrong, r.began, r.inner = r.fields[:0], r.line, "", i, 0
	quote := r.quote
	for {
		if i < len(text) && text[i] == quote && quote != 0 {
			i = r.quoted(i)
		} else {
			begin := i
			i = r.fieldEnd(i)
			field := text[begin:i]
			if (i == len(text) || text[i] == '\n') && len(field) > 0 && field[len(field)-1] == '\r' {
				field = field[:len(field)-1]
			}
			r.fields = append(r.fields, field)
		}
		if i >= len(text) {
			break
		}
		i++
		if text[i-1] == '\n' {
			r.line++
			break
		}
	}
	r.ended = i
	return true
}

// fieldEnd finds the end of an unquoted field, eight bytes at a time. A byte of the XOR is zero
// where it matches, and the lowest zero byte is found by borrowing.
func (r *records) fieldEnd(i int) int {
	text, delimiters := r.text, ones*uint64(r.delimiter)
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		one, other := word^delimiters, word^(ones*'\n')
		if found := ((one-ones)&^one | (other-ones)&^other) & tops; found != 0 {
			return i + bits.TrailingZeros64(found)/8
		}
	}
	for i < len(text) && text[i] != r.delimiter && text[i] != '\n' {
		i++
	}
	return i
}

// simple reports whether the whole block is ASCII that needs no JSON escaping and has no quotes.
func (r *records) simple() bool { return r.simpleFrom(0, len(r.text)) }

// simpleRow reports the same for the current row.
func (r *records) simpleRow() bool { return r.simpleFrom(r.began, r.ended) }

// simpleFrom checks a part of the text, eight bytes at a time.
func (r *records) simpleFrom(from, to int) bool {
	text := r.text[from:to]
	if bytes.IndexByte(text, '"') >= 0 || bytes.IndexByte(text, '\\') >= 0 || r.quote != 0 && r.quote != '"' && bytes.IndexByte(text, r.quote) >= 0 {
		return false
	}
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		// Borrowing may give false positives, so endsOnly looks again.
		if word&tops != 0 || (word-ones*' ')&^word&tops != 0 && !r.endsOnly(from+i, from+i+8) {
			return false
		}
	}
	return plainASCII(text[i:]) && r.endsOnly(from+i, to)
}

// ones and tops find a byte among eight without a loop.
const ones, tops = 0x0101010101010101, 0x8080808080808080

// endsOnly reports whether all control characters separate fields or rows.
func (r *records) endsOnly(from, to int) bool {
	for i := from; i < to; i++ {
		switch c := r.text[i]; {
		case c >= ' ', c == '\n', c == r.delimiter:
		case c == '\r' && (i+1 == len(r.text) || r.text[i+1] == '\n'):
		default:
			return false
		}
	}
	return true
}

// nextSimple reads a row of a simple block, eight bytes at a time. In ASCII no sum carries into the
// next byte.
func (r *records) nextSimple() bool {
	text, i := r.text, r.ended
	for i < len(text) && (text[i] == '\n' || text[i] == '\r') {
		if text[i] == '\n' {
			r.line++
		}
		i++
	}
	if i >= len(text) {
		return false
	}
	fields, begin := r.fields[:0], i
	r.at, r.wrong, r.inner = r.line, "", 0
	delimiters := ones * uint64(r.delimiter)
	for {
		var found uint64
		if i+8 <= len(text) {
			word := binary.LittleEndian.Uint64(text[i:])
			found = ^((word ^ delimiters) + (tops - ones)) | ^((word ^ ones*'\n') + (tops - ones))
		} else {
			for k, c := range text[i:] {
				if c == r.delimiter || c == '\n' {
					found |= 0x80 << (8 * k)
				}
			}
			if len(text)-i < 8 {
				found |= 0x80 << (8 * (len(text) - i)) // the end of the text ends the row
			}
		}
		for found &= tops; found != 0; found &= found - 1 {
			at := i + bits.TrailingZeros64(found)/8
			// Capped, so that appending to a field does not overwrite the next.
			field := text[begin:at:at]
			if at < len(text) && text[at] == r.delimiter {
				fields, begin = append(fields, field), at+1
				continue
			}
			if len(field) > 0 && field[len(field)-1] == '\r' {
				field = field[:len(field)-1]
			}
			r.fields, r.ended = append(fields, field), min(at+1, len(text)) //nolint:gocritic // fields was theirs to begin with
			if at < len(text) {
				r.line++
			}
			return true
		}
		i += 8
	}
}

// quoted reads a quoted field at i and returns its end.
func (r *records) quoted(i int) int {
	text := r.text
	closing := closingQuote(text[i+1:], r.quote)
	if closing < 0 { // only possible at the very end
		r.wrong = "a quote is not closed"
		r.fields = append(r.fields, text[i+1:])
		return len(text)
	}
	field := text[i+1 : i+1+closing]
	if lines := bytes.Count(field, newline); lines > 0 {
		r.line += lines
		r.inner += lines
		if r.swallows(i+1, i+1+closing) {
			r.wrong = likeRow
		}
	}
	if bytes.IndexByte(field, r.quote) >= 0 {
		field = bytes.ReplaceAll(field, []byte{r.quote, r.quote}, []byte{r.quote})
	}
	r.fields = append(r.fields, field)
	i += closing + 2
	if i < len(text) && text[i] == '\r' && (i+1 == len(text) || text[i+1] == '\n') {
		i++
	}
	if i < len(text) && text[i] != r.delimiter && text[i] != '\n' {
		r.wrong = "text follows a closing quote; double the quotes within a text, or close a quote before it"
		// Skip the rest of the field, so that the row is reported once.
		for i < len(text) && text[i] != r.delimiter && text[i] != '\n' {
			i++
		}
	}
	return i
}
