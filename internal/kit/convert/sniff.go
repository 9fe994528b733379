package convert

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// inspection is how a file seems to be written.
type inspection struct {
	charset   charset
	delimiter byte
	quote     byte
	columns   []string
	rows      [][]string // a few of the first, in UTF-8
}

// inspectBytes is how much of a file is looked at.
const inspectBytes = 256 << 10

// inspectFile looks at the beginning of a file.
func inspectFile(path string) (*inspection, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	begin := make([]byte, inspectBytes)
	n, err := io.ReadFull(file, begin)
	// Most files are shorter than what is looked at.
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	begin = begin[:n]
	s := &inspection{charset: detectCharset(begin), quote: '"'}
	source, err := s.charset.reader(bytes.NewReader(begin))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(source)
	if err != nil && s.charset != utf16WithBO { // of which half a character may be left
		return nil, err
	}
	// The last line was likely cut off in the middle.
	if whole := bytes.LastIndexByte(text, '\n') + 1; whole > 0 && n == inspectBytes {
		text = text[:whole]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s is empty", path)
	}
	s.delimiter = detectDelimiter(text)
	s.read(text)
	return s, nil
}

// detectCharset guesses: marks say it, what is valid UTF-8 and more than ASCII is
// hardly anything else, and the bytes between 0x80 and 0x9f are characters in
// Windows-1252 alone, which also is by far the most frequent of the rest.
func detectCharset(text []byte) charset {
	switch {
	case bytes.HasPrefix(text, markUTF16[0]), bytes.HasPrefix(text, markUTF16[1]):
		return utf16WithBO
	case bytes.HasPrefix(text, markUTF8):
		return utf8Charset
	}
	for cut := 0; cut < utf8.UTFMax && cut < len(text); cut++ { // the last character may be cut off
		if utf8.Valid(text[:len(text)-cut]) {
			return utf8Charset
		}
	}
	for _, c := range text {
		if c >= 0x80 && c < 0xa0 && highOf1252[c-0x80] == 0 {
			return latin1
		}
	}
	return windows1252
}

// detectDelimiter takes the one that cuts the first lines into the same number of
// fields, and the most of them.
func detectDelimiter(text []byte) byte {
	best, most := byte(','), 0
	for _, c := range []byte(",;\t|") {
		rows := &records{delimiter: c, quote: '"'}
		rows.reset(block{line: 1, text: text})
		fields, agree := 0, 0
		for range 50 {
			if !rows.next() {
				break
			}
			if fields == 0 {
				fields = len(rows.fields)
			}
			if len(rows.fields) == fields {
				agree++
			}
		}
		// A delimiter that cuts nothing says nothing, whatever the number of lines,
		// so one field counts as none.
		if score := (fields - 1) * agree; score > most {
			best, most = c, score
		}
	}
	return best
}

// maxInspectedRows is how many rows are looked at.
const maxInspectedRows = 5_000

// read takes the first rows apart as they would be read.
func (s *inspection) read(text []byte) {
	rows := &records{delimiter: s.delimiter, quote: s.quote}
	rows.reset(block{line: 1, text: text})
	for rows.next() && len(s.rows) < maxInspectedRows {
		cells := make([]string, len(rows.fields))
		for i, field := range rows.fields {
			// What is wrong with a value is not told: this is a look, and the
			// conversion will say it with the row.
			decoded, _ := s.charset.decode(nil, trimBlanks(field))
			cells[i] = strings.TrimSpace(string(decoded))
		}
		if s.columns == nil {
			s.columns = cells
		} else if len(cells) == len(s.columns) {
			s.rows = append(s.rows, cells)
		}
	}
}

// values gives what stands in a column, as far as it was looked at.
func (s *inspection) values(column int) (list []string) {
	for _, row := range s.rows {
		if row[column] != "" {
			list = append(list, row[column])
		}
	}
	return list
}

// dayPatterns are the ways days are written that a map can be suggested for. The
// day comes first where both are possible: of the systems that write 03/04/2001
// most are not American.
var dayPatterns = []string{
	"YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYYMMDD", "YYYY/MM/DD", "DD.MM.YY", "DD/MM/YY", "DD-MON-YYYY", "DD-MON-YY",
	"D.M.YYYY", "D/M/YYYY",
}

// clockPatterns are the ways in which times stand behind days.
var clockPatterns = []string{" hh:mm:ss", "Thh:mm:ss", " hh:mm", "Thh:mm:ssZ"}

// findDayPattern finds how a column writes days, or "".
func findDayPattern(values []string) string {
	return firstPattern(dayPatterns, values)
}

// findInstantPattern finds how a column writes instants, or "".
func findInstantPattern(values []string) string {
	var all []string
	for _, day := range dayPatterns {
		for _, clock := range clockPatterns {
			all = append(all, day+clock)
		}
	}
	return firstPattern(all, values)
}

// firstPattern gives the first one that fits every value: one that fits
// nearly all would fail in the middle of the night.
func firstPattern(texts, values []string) string {
	if len(values) == 0 {
		return ""
	}
next:
	for _, text := range texts {
		pattern, err := newPattern(text)
		if err != nil {
			continue
		}
		for _, value := range values {
			// A year such as 0201 says that the pattern is the wrong one; 0001 is
			// allowed, since it may stand for no day at all.
			if at, ok := pattern.read([]byte(value)); !ok || at.year < 1850 && at.year > 1 {
				continue next
			}
		}
		return text
	}
	return ""
}

// decimalMarks reports whether a column has numbers with a decimal comma, or with a
// point.
func decimalMarks(values []string) (comma, point bool) {
	comma, point = len(values) > 0, len(values) > 0
	// Whole numbers fit both ways of writing and speak for neither.
	marked := false
	for _, value := range values {
		digits := strings.Trim(value, "-+")
		marked = marked || strings.ContainsAny(digits, ",.")
		commas, points := numberFormat{decimal: ',', grouping: '.'}, numberFormat{decimal: '.', grouping: ','}
		comma = comma && commas.read(nil, []byte(value), false) != nil && groupsAreWhole(digits, '.', ',')
		point = point && points.read(nil, []byte(value), false) != nil && groupsAreWhole(digits, ',', '.')
	}
	return comma && marked, point && marked
}

// groupsAreWhole reports whether the marks between thousands stand where they
// should.
func groupsAreWhole(digits string, grouping, decimal byte) bool {
	whole, _, _ := strings.Cut(digits, string(decimal))
	groups := strings.Split(whole, string(grouping))
	for _, group := range groups[1:] {
		if len(group) != 3 {
			return false
		}
	}
	return true
}
