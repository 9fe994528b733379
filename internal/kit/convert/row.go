package convert

import (
	"bytes"
	"unicode/utf8"
)

// currentRow is the row being converted. What is made of it is valid until the next.
type currentRow struct {
	table   *sourceTable
	fields  [][]byte
	scratch []byte // decoded and joined texts
	simple  bool   // no value of the block needs a second look
	failed  bool
	lacking bool    // only because something required is empty
	problem Problem // the first one
}

// begin takes up another row, with the memory of the one before.
func (r *currentRow) begin(fields [][]byte) {
	r.fields, r.scratch, r.failed, r.lacking = fields, r.scratch[:0], false, false
}

// fail keeps the first thing that is wrong with a row: mending it often mends
// the others.
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

// maxShownBytes is how much of a value is shown: enough to find it again.
const maxShownBytes = 80

// shorten shortens a value for a message, between two characters.
func shorten(value []byte) string {
	// The value may be in any charset, or broken, which may be the very thing that
	// is reported: what is shown must be UTF-8 all the same.
	if len(value) > maxShownBytes {
		cut := maxShownBytes
		for cut > maxShownBytes-utf8.UTFMax && !utf8.RuneStart(value[cut]) {
			cut--
		}
		return string(bytes.ToValidUTF8(value[:cut], []byte("\ufffd"))) + "…"
	}
	return string(bytes.ToValidUTF8(value, []byte("\ufffd")))
}

// cell gives the text of a column as UTF-8, without blanks around it. Words
// that mean nothing in this table are nothing.
func (r *currentRow) cell(column int, trim bool) []byte {
	text := r.fields[column]
	if len(text) == 0 {
		return nil
	}
	if trim && (text[0] <= ' ' || text[len(text)-1] <= ' ') {
		text = trimBlanks(text)
	}
	if len(r.table.dialect.empty) == 0 && (r.simple || plainASCII(text)) {
		return text
	}
	return r.decodeCell(column, text)
}

// decodeCell takes the second look that few values need.
func (r *currentRow) decodeCell(column int, text []byte) []byte {
	if !plainASCII(text) {
		// Texts of this row that were decoded before stay valid: growing makes a
		// new scratch and leaves them in the old one.
		from := len(r.scratch)
		var wrong string
		if r.scratch, wrong = r.table.dialect.charset.decode(r.scratch, text); wrong != "" {
			r.fail(Unconvertible, column, text, wrong)
			return nil
		}
		text = r.scratch[from:]
	}
	// Compared after decoding: the map names these words as people see them.
	for _, nothing := range r.table.dialect.empty { //nolint:modernize // compared in place it makes no string
		if string(text) == nothing {
			return nil
		}
	}
	return text
}

// trimBlanks takes blanks and tabs away at both ends; most texts have none.
func trimBlanks(text []byte) []byte {
	for len(text) > 0 && (text[0] == ' ' || text[0] == '\t') {
		text = text[1:]
	}
	for len(text) > 0 && (text[len(text)-1] == ' ' || text[len(text)-1] == '\t') {
		text = text[:len(text)-1]
	}
	return text
}

// test is a condition on one column.
type test struct {
	column int
	is     []string // one of these; none of them means anything goes
	not    []string // none of these
	empty  int8     // 1: must be empty, -1: must not be
}

// passes reports whether every condition holds.
func (r *currentRow) passes(tests []test) bool {
	for i := range tests {
		t := &tests[i]
		text := r.cell(t.column, true)
		if t.empty > 0 && len(text) > 0 || t.empty < 0 && len(text) == 0 || contains(t.not, text) || len(t.is) > 0 && !contains(t.is, text) {
			return false
		}
	}
	return true
}

// contains compares without making a string of the text.
func contains(list []string, text []byte) bool {
	for _, one := range list { //nolint:modernize // likewise
		if one == string(text) {
			return true
		}
	}
	return false
}

// jsonSafe are the bytes that stand for themselves in a JSON text. Bytes above ASCII
// do: they are UTF-8 by now.
var jsonSafe = func() (list [256]bool) {
	for c := range list {
		list[c] = c >= ' ' && c != '"' && c != '\\'
	}
	return list
}()

// appendText writes a JSON text. Unlike an answer of the service it is for
// programs alone, so that a name like A & B stays as it is.
func appendText(dst, text []byte) []byte {
	return append(appendEscaped(append(dst, '"'), text), '"')
}

// appendEscaped writes a text as JSON wants it. The line separators of
// JavaScript are escaped as well: some readers of lines take them for ends.
func appendEscaped(dst, text []byte) []byte {
	from := 0
	for i, c := range text {
		if jsonSafe[c] {
			if c != 0xe2 || i+2 >= len(text) || text[i+1] != 0x80 || text[i+2]&^1 != 0xa8 {
				continue
			}
			// U+2028 and U+2029 end lines for some who read JSON.
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
