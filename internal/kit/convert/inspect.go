package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"landfall/internal/lib/xlsx"
)

// inspection describes how a file seems to be written.
type inspection struct {
	charset   charset
	guess     charsetGuess
	ascii     bool // the same in every charset but UTF-16
	delimiter byte
	quote     byte
	header    int  // line of the column names, if titles are above it
	escaped   bool // backslashes seem to have a meaning
	columns   []string
	rows      [][]string      // the first rows, in UTF-8
	lines     []int           // where they are
	empty     map[string]bool // the words in them that mean an empty value
}

// inspectBytes is how much of a file is inspected.
const inspectBytes = 256 << 10

// inspectFile inspects the beginning of a file. shared are words of all tables that show the charset, if
// they are known.
func inspectFile(ctx context.Context, path string, shared map[string]int) (*inspection, error) {
	if isWorkbook(path) {
		return inspectWorkbook(ctx, path)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	begin := make([]byte, inspectBytes)
	n, err := io.ReadFull(file, begin)
	// Most files are shorter.
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, err
	}
	begin = begin[:n]
	guess := inspectCharset(begin, shared)
	s := &inspection{charset: guess.charset, guess: guess, quote: '"', empty: map[string]bool{}}
	source, err := s.charset.reader(bytes.NewReader(begin))
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(source)
	if err != nil && s.charset != utf16WithBO { // the last character may be incomplete
		return nil, err
	}
	if endsLinesWithReturns(text[:min(len(text), 64<<10)]) {
		text = bytes.ReplaceAll(text, []byte{'\r'}, newline)
	}
	// The last line is probably incomplete.
	if whole := bytes.LastIndexByte(text, '\n') + 1; whole > 0 && n == inspectBytes {
		text = text[:whole]
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errEmpty)
	}
	s.escaped = escapedLook.Match(text) || bytes.Contains(text, []byte(`\N`)) && bytes.Count(text, []byte{'\\'}) > bytes.Count(text, []byte(`\N`))
	s.delimiter, s.ascii = detectDelimiter(text), plainASCII(begin)
	s.read(text)
	return s, nil
}

// errEmpty is the problem of a file without any text.
var errEmpty = errors.New("it is empty")

// escapedLook matches a quote after a backslash that does not end its field.
var escapedLook = regexp.MustCompile(`[^\\]\\"[^,;|\t\r\n]`)

// unreadSheets lists the sheets of a workbook with rows that are not among some. "" is the first one.
func unreadSheets(path string, read []string) (names []string) {
	if !isWorkbook(path) {
		return nil
	}
	workbook, err := xlsx.Open(path)
	if err != nil {
		return nil // reading it reports this
	}
	defer func() { _ = workbook.Close() }() // only read
	for _, name := range workbook.Sheets() {
		if slices.ContainsFunc(read, func(one string) bool { return strings.EqualFold(one, name) || one == "" && name == workbook.First() }) {
			continue
		}
		rows, err := workbook.Rows(name)
		if err != nil {
			continue
		}
		if _, cells, err := rows.Next(); err == nil && len(cells) > 0 {
			names = append(names, name)
		}
		_ = rows.Close() // only read
	}
	return names
}

// inspectWorkbook inspects the beginning of the first sheet of a workbook.
func inspectWorkbook(ctx context.Context, path string) (*inspection, error) {
	t := &sourceTable{headed: true, dialect: defaultDialect(), layout: layout{workbook: true}}
	text, err := t.beginning(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s: %w", path, errEmpty)
	}
	if len(text) == inspectBytes { // the last row is probably incomplete
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	s := &inspection{charset: utf8Charset, quote: '"', delimiter: ',', empty: map[string]bool{}}
	s.read(text)
	return s, nil
}

// unicodeCharset returns UTF-8 or UTF-16 if a text is that, or "". A byte order mark decides; valid UTF-8 that
// is not ASCII is almost always UTF-8.
func unicodeCharset(text []byte) charset {
	switch {
	case bytes.HasPrefix(text, markUTF16[0]), bytes.HasPrefix(text, markUTF16[1]):
		return utf16WithBO
	case bytes.HasPrefix(text, markUTF8):
		return utf8Charset
	}
	for cut := 0; cut < utf8.UTFMax && cut < len(text); cut++ { // the last character may be incomplete
		if utf8.Valid(text[:len(text)-cut]) {
			return utf8Charset
		}
	}
	// A few mistakes in much UTF-8 are reported when it is converted.
	right, wrong := 0, 0
	for rest := text; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			wrong++
		case size > 1:
			right++
		}
		rest = rest[size:]
	}
	if right >= 10 && wrong <= fewOf(right) {
		return utf8Charset
	}
	return ""
}

// delimiterOf chooses the delimiter that splits the first lines into equal numbers of fields,
// preferring more fields.
func detectDelimiter(text []byte) byte {
	best, most := byte(','), 0
	for _, c := range []byte(",;\t|") {
		fields, agree, _ := usualWidth(text, c)
		// A single field counts as none.
		if score := (fields - 1) * agree; score > most {
			best, most = c, score
		}
	}
	return best
}

// maxTitles is how many lines above the column names are recognized.
const maxTitles = 20

// usualWidth returns how many fields most of the first rows have, how many rows, and the line of the first
// of them.
func usualWidth(text []byte, delimiter byte) (fields, agree, line int) {
	rows := &records{delimiter: delimiter, quote: '"'}
	rows.reset(block{line: 1, text: text})
	counts, first := map[int]int{}, map[int]int{}
	for range 50 {
		if !rows.next() {
			break
		}
		width := len(rows.fields)
		// A title may be filled up with empty fields.
		if counts[width]++; first[width] == 0 && (width == 1 || filledFields(rows.fields) > 1) {
			first[width] = rows.at
		}
		if counts[width] > agree || counts[width] == agree && first[width] < first[fields] {
			fields, agree = width, counts[width]
		}
	}
	return fields, agree, first[fields]
}

// maxInspectedRows limits the rows that are inspected.
const maxInspectedRows = 5_000

// read parses the first rows.
func (s *inspection) read(text []byte) {
	rows := &records{delimiter: s.delimiter, quote: s.quote}
	rows.reset(block{line: 1, text: text})
	// Titles above the column names have fewer fields than the rows. A line with several names is a header to
	// which the rows do not fit.
	_, agree, line := usualWidth(text, s.delimiter)
	for rows.next() && len(s.rows) < maxInspectedRows {
		if s.columns == nil && rows.at < line && line <= maxTitles && agree > 2 && filledFields(rows.fields) <= 2 {
			s.header = line
			continue
		}
		cells := make([]string, len(rows.fields))
		for i, field := range rows.fields {
			// Problems are ignored here; the conversion reports them.
			decoded, _ := s.charset.decode(nil, trimBlanks(field))
			cells[i] = strings.TrimSpace(string(decoded))
		}
		if s.columns == nil {
			s.columns = cells
		} else if len(cells) == len(s.columns) {
			s.rows, s.lines = append(s.rows, cells), append(s.lines, rows.at)
		}
	}
}

// filledFields counts the fields that are not empty.
func filledFields(fields [][]byte) (count int) {
	for _, field := range fields {
		if len(trimBlanks(field)) > 0 {
			count++
		}
	}
	return count
}

// values returns the non-empty values of a column.
func (s *inspection) values(column int) (list []string) {
	for _, cells := range s.rows {
		switch value := cells[column]; {
		case value == "":
		case isNullWord(value):
			s.empty[value] = true
		default:
			list = append(list, value)
		}
	}
	return list
}

// dayPatterns are the date formats that can be suggested. If several fit all values of a column, it
// is left open.
var dayPatterns = []string{
	"YYYY-MM-DD", "DD.MM.YYYY", "DD/MM/YYYY", "MM/DD/YYYY", "DD-MM-YYYY", "YYYYMMDD", "YYYY/MM/DD", "DD.MM.YY", "DD/MM/YY", "DD-MON-YYYY", "DD-MON-YY",
	"D.M.YYYY", "D/M/YYYY", "M/D/YYYY", "MM-DD-YYYY", "MM/DD/YY", "DD-MM-YY", "YY-MM-DD",
}

// compactPatterns are formats that account numbers have too, so they are suggested only for dates.
var compactPatterns = []string{"YYMMDD", "DDMMYY"}

// clockPatterns are the time formats after a date.
var clockPatterns = []string{" hh:mm:ss", "Thh:mm:ss", " hh:mm", "Thh:mm:ssZ"}

// findDayPattern returns the date format of a column, or "".
func findDayPattern(values []string) string {
	return firstPattern(dayPatterns, values)
}

// findInstantPattern returns the datetime format of a column, or "".
func findInstantPattern(values []string) string { return firstPattern(instantPatterns(), values) }

// instantPatterns are the datetime formats that can be suggested.
func instantPatterns() (all []string) {
	for _, day := range dayPatterns {
		for _, clock := range clockPatterns {
			all = append(all, day+clock)
		}
	}
	return all
}

// firstPattern returns the pattern that fits the most values, the first one of several. All values must
// fit, but for a few mistakes.
func firstPattern(texts, values []string) (best string) {
	fewest := len(values)
	for _, text := range texts {
		if _, bad := readAll(text, values, fewest); bad < fewest && bad <= fewOf(len(values)) {
			best, fewest = text, bad
		}
		if fewest == 0 {
			break
		}
	}
	return best
}

// readAll reads all values with a pattern, and counts those that it does not fit. It gives up when there are
// more than most.
func readAll(pattern string, values []string, most int) (dates []dateTime, bad int) {
	parsed, err := newPattern(pattern)
	if err != nil {
		return nil, len(values)
	}
	for _, one := range values {
		// A year such as 0201 means the wrong pattern. 0001 may stand for no date.
		at, ok := parsed.read([]byte(one))
		if !ok || at.year < 1850 && at.year > 1 {
			at = dateTime{}
			if bad++; bad > most || bad > fewOf(len(values)) {
				return nil, len(values)
			}
		}
		dates = append(dates, at)
	}
	return dates, bad
}
