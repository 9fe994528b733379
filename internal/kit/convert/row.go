package convert

import (
	"bytes"
	"regexp"
	"unicode"
	"unicode/utf8"
)

// currentRow is the row being converted. Its results are valid until the next row.
type currentRow struct {
	table   *sourceTable
	fields  [][]byte
	scratch []byte // decoded and joined texts
	simple  bool   // the row needs no decoding or escaping
	failed  bool
	lacking bool    // only because a required value is empty
	problem Problem // the first one
	met     []byte  // by column: which readings of numbers and dates occurred
	codes   otherCodes
}

// What occurs in a column, as bits.
const (
	metNumber = 1 << iota // a number that can be read in two ways
	metMonth              // a date that is another one with day and month exchanged
	metYear               // a date that is another one with day and year exchanged
	metCut                // nothing, because the line ends before the column
	// Shifted by this, the same bits mean a value that can only be read in another way than the map says,
	// or that lines reach the column.
	metOther = 4
)

// note records what occurs in a column.
func (r *currentRow) note(column int, what byte) {
	if column >= 0 && column < len(r.met) {
		r.met[column] |= what
	}
}

// doubt records a value that can be read in two ways, which are bits. It reports whether it must be
// refused, because both ways occur in its column.
func (r *currentRow) doubt(v *expression, ways byte) bool {
	if ways == 0 || v.keepMixed || v.column < 0 {
		return false
	}
	r.note(v.column, ways)
	return r.table.mixed[v.column].ways&ways != 0
}

// begin starts with another row and reuses the memory.
func (r *currentRow) begin(fields [][]byte) {
	r.fields, r.scratch, r.failed, r.lacking = fields, r.scratch[:0], false, false
}

// fail records the first problem of a row; fixing it often fixes the others.
func (r *currentRow) fail(kind ProblemKind, column int, value []byte, what string) {
	if r.failed {
		return
	}
	r.failed = true
	r.problem = Problem{Kind: kind, Value: shorten(value), What: what}
	if column >= 0 {
		r.problem.Column = r.table.columns[column]
	}
}

// maxShownBytes limits values in messages.
const maxShownBytes = 80

// shorten shortens a value for a message, at a character boundary.
func shorten(value []byte) string {
	// The value may be in any charset or broken; the message must be UTF-8.
	if len(value) > maxShownBytes {
		cut := maxShownBytes
		for cut > maxShownBytes-utf8.UTFMax && !utf8.RuneStart(value[cut]) {
			cut--
		}
		return string(bytes.ToValidUTF8(value[:cut], []byte("\ufffd"))) + "…"
	}
	return string(bytes.ToValidUTF8(value, []byte("\ufffd")))
}

// cell returns the text of a column as UTF-8, trimmed, and nil for words that mean empty.
func (r *currentRow) cell(column int, trim bool) []byte {
	text := r.fields[column]
	if len(text) == 0 {
		return nil
	}
	if r.table.layout.marked() {
		if text = r.markedCell(column, text); len(text) == 0 {
			return nil
		}
	}
	if trim && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		text = trimBlanks(text)
	}
	if len(r.table.dialect.empty) == 0 && (r.simple || plainASCII(text)) {
		return text
	}
	return r.decodeCell(column, text, trim)
}

// value returns the text of a column for the book. A number that a spreadsheet has shortened is
// refused, because its last digits are lost.
func (r *currentRow) value(column int, trim bool) []byte {
	text := r.cell(column, trim)
	if shortened(text) && !r.table.dialect.keepMixed {
		r.fail(Unconvertible, column, text, "a spreadsheet has shortened this number, and its last digits are lost; export the column as text, or set mixed_formats: keep for the table to use it as it is")
	}
	return text
}

// shortened reports whether a text is a number as a spreadsheet shortens it, such as 1.06257E+12.
func shortened(text []byte) bool {
	n := len(text)
	if n < 4 || text[n-2] != '+' && text[n-3] != '+' && text[n-4] != '+' {
		return false
	}
	mantissa, exponent, found := bytes.Cut(bytes.ToUpper(text), []byte("E+"))
	return found && isNumber(string(exponent)) && len(mantissa) > 0 && mantissa[0]-'0' <= 9 && len(bytes.Trim(mantissa, "0123456789.,")) == 0
}

// decodeCell handles the few values that are not plain ASCII or may mean empty.
func (r *currentRow) decodeCell(column int, text []byte, trim bool) []byte {
	if !plainASCII(text) {
		// Earlier texts of this row stay valid: growing allocates a new buffer.
		from := len(r.scratch)
		var wrong string
		if r.scratch, wrong = r.table.dialect.charset.decode(r.scratch, text); wrong != "" {
			r.fail(Unconvertible, column, text, wrong)
			return nil
		}
		if text = r.scratch[from:]; trim {
			text = bytes.TrimFunc(text, isBlank)
		}
	}
	// Compared after decoding, as the map writes these words.
	for _, nothing := range r.table.dialect.empty { //nolint:modernize // compared in place it makes no string
		if string(text) == nothing {
			return nil
		}
	}
	return text
}

// trimBlanks removes spaces and tabs at both ends.
func trimBlanks(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}

// isBlank reports whether a character is invisible, such as a no-break space.
func isBlank(c rune) bool { return unicode.IsSpace(c) || c == '\u200b' || c == '\ufeff' }

// test is a condition on one column.
type test struct {
	column int
	is     []string // one of these; empty means anything
	not    []string // none of these
	empty  int8     // 1: must be empty, -1: must not be

	matches *regexp.Regexp
	bounds  []bound
}

// passes reports whether all conditions hold.
func (r *currentRow) passes(tests []test) bool {
	for i := range tests {
		if !r.meets(&tests[i], r.cell(tests[i].column, true)) {
			return false
		}
	}
	return true
}

// meets reports whether a condition holds for the text of its column.
func (r *currentRow) meets(t *test, text []byte) bool {
	if t.empty > 0 && len(text) > 0 || t.empty < 0 && len(text) == 0 || contains(t.not, text) || len(t.is) > 0 && !contains(t.is, text) {
		return false
	}
	if t.matches != nil && !t.matches.Match(text) {
		return false
	}
	for k := range t.bounds {
		if !t.bounds[k].holds(r, text) {
			return false
		}
	}
	return true
}

// contains compares without allocating a string.
func contains(list []string, text []byte) bool {
	for _, one := range list { //nolint:modernize // likewise
		if one == string(text) {
			return true
		}
	}
	return false
}

// needsNoEscape are the bytes that need no escaping in JSON. Bytes above ASCII are UTF-8 by now.
var needsNoEscape = func() (list [256]bool) {
	for c := range list {
		list[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return list
}()

// appendText appends a JSON string. HTML characters are not escaped.
func appendText(dst, text []byte) []byte {
	return append(appendEscaped(append(dst, '"'), text), '"')
}

// appendEscaped escapes a text for JSON. U+2028 and U+2029 are escaped too, because some line
// readers treat them as line ends.
func appendEscaped(dst, text []byte) []byte {
	from := 0
	for i, c := range text {
		if needsNoEscape[c] {
			if c != 0xe2 || i+2 >= len(text) || text[i+1] != 0x80 || text[i+2]&^1 != 0xa8 {
				continue
			}
			dst = append(append(dst, text[from:i]...), `\u202`...)
			dst = append(dst, "89"[text[i+2]&1])
			from = i + 3
			continue
		}
		dst = append(dst, text[from:i]...)
		from = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			const hex = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
	}
	return append(dst, text[from:]...)
}
