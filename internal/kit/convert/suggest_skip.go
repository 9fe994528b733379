package convert

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// maxTrailers is how many lines at the end of a table are not rows at most.
const maxTrailers = 3

// skips returns regular expressions for lines that are not rows: those with totals, and the last ones.
func (t *suggestedTable) skips() (list []string) {
	for _, total := range t.totals {
		list = append(list, strconv.Quote(total))
	}
	for _, word := range t.lastWords() {
		text := strconv.Quote("^" + digitsLook.ReplaceAllString(regexp.QuoteMeta(word), "[0-9]+"))
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}

// lastWords returns the beginnings of the last lines, if they are not rows. A line that begins like the rows
// above it may be one that was cut, so it is not among them.
func (t *suggestedTable) lastWords() []string {
	if len(t.trailers) > maxTrailers {
		return nil
	}
	looks := map[string]bool{}
	for _, cells := range t.rows {
		looks[patternOf(cells[0])] = true
	}
	if slices.ContainsFunc(t.trailers, func(word string) bool { return len(word) < 3 || isNumber(word) || looks[patternOf(word)] }) {
		return nil
	}
	return t.trailers
}

// digitsLook matches a number in a text.
var digitsLook = regexp.MustCompile("[0-9]+")

// totalLook matches what stands before a total.
var totalLook = regexp.MustCompile(`(?i)^(\*+|((grand |sub-?)?totals?|totale|totaal|sum|summe|gesamt|gesamtsumme|somme|suma):?)$`)

// total returns a regular expression for a row with totals, or "" for other rows: it has as many values as the
// table has columns, but half of them are empty, and the first one is a word for a total. The whole value must
// be that word: a customer can be called Total Energy.
func (t *suggestedTable) total(fields [][]byte) string {
	if len(fields) != len(t.columns) {
		return ""
	}
	first, filled := -1, 0
	for i, field := range fields {
		if len(trimBlanks(field)) == 0 {
			continue
		}
		if filled++; first < 0 {
			first = i
		}
	}
	if first < 0 || filled*2 > len(fields) || !totalLook.Match(trimBlanks(fields[first])) {
		return ""
	}
	delimiter := regexp.QuoteMeta(string(t.delimiter))
	if isWorkbook(t.file) { // its rows are compared with the delimiter of the other tables
		delimiter = `[,;|\t]`
	}
	return "^" + strings.Repeat(delimiter, first) + regexp.QuoteMeta(string(trimBlanks(fields[first]))) + " *" + delimiter
}
