package convert

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Profile describes the tables of a folder before anything is converted.
type Profile struct {
	Folder string         `json:"folder"`
	Tables []TableProfile `json:"tables"`
	Links  []LinkProfile  `json:"links"`
	// Unread are files and sheets that are not described, with the reason.
	Unread []SkippedFile `json:"unread"`
}

// TableProfile describes a table.
type TableProfile struct {
	File      string          `json:"file"`
	Encoding  string          `json:"encoding"`
	Delimiter string          `json:"delimiter"`
	Rows      int             `json:"rows"`
	Malformed int             `json:"malformed"` // rows that do not have as many fields as the header
	Keys      []string        `json:"keys"`      // columns with a different value in every row
	Columns   []ColumnProfile `json:"columns"`
}

// ColumnProfile describes a column. Distinct values are counted exactly up to a few thousand, and
// estimated beyond that.
type ColumnProfile struct {
	Name       string        `json:"name"`
	Type       string        `json:"type"` // empty, date, datetime, integer, number, email, text
	Format     string        `json:"format,omitempty"`
	Filled     int           `json:"filled"`
	Empty      int           `json:"empty"`
	Distinct   int           `json:"distinct"`
	Exact      bool          `json:"distinct_exact"`
	Min        string        `json:"min"`
	Max        string        `json:"max"`
	Longest    int           `json:"longest"` // characters
	Patterns   []ValueCount  `json:"patterns"`
	Suspicious []ValueReport `json:"suspicious"`
}

// ValueCount is a pattern of values: A is a letter, 9 a digit, and + means several.
type ValueCount struct {
	Pattern string `json:"pattern"`
	Count   int    `json:"count"`
	Example string `json:"example"`
}

// ValueReport is a group of values that someone should look at.
type ValueReport struct {
	What  string `json:"what"`
	Count int    `json:"count"`
	Value string `json:"value"` // the first one
	Line  int    `json:"line"`
}

// LinkProfile is a column whose values are in a column of another table.
type LinkProfile struct {
	File     string `json:"file"`
	Column   string `json:"column"`
	Other    string `json:"other_file"`
	Theirs   string `json:"other_column"`
	Missing  int    `json:"missing"`  // different values that the other table does not have
	Compared int    `json:"compared"` // different values that were compared: all, or a sample of some thousand
}

// ProfileTables reads all tables of a folder. Memory does not grow with them.
func ProfileTables(ctx context.Context, folder string) (*Profile, error) {
	p := &Profile{Folder: folder, Links: []LinkProfile{}, Unread: []SkippedFile{}}
	var tables []*suggestedTable
	for _, name := range fileNames(folder) {
		if !isTable(name) {
			continue
		}
		for _, sheet := range unreadSheets(filepath.Join(folder, name), []string{""}) {
			p.Unread = append(p.Unread, SkippedFile{name + ", sheet " + sheet, "only the first sheet is described"})
		}
		if len(tables) == maxSuggestedTables {
			return nil, fmt.Errorf("%s has more than %d tables; put those that matter into a folder of their own", folder, maxSuggestedTables)
		}
		one := TableProfile{File: name, Keys: []string{}}
		var columns []*columnCounter
		t, err := readSuggested(ctx, folder, name, math.MaxInt64, nil, func(t *suggestedTable, line int, fields [][]byte) {
			if columns == nil {
				columns = newCounters(t)
			}
			if one.Rows++; len(fields) != len(columns) {
				one.Malformed++
				return
			}
			for i, field := range fields {
				columns[i].add(t, line, field)
			}
		})
		if errors.Is(err, errEmpty) {
			p.Unread = append(p.Unread, SkippedFile{name, "it is empty"})
			continue
		}
		if err != nil {
			return nil, err
		}
		if columns == nil {
			columns = newCounters(t)
		}
		one.Encoding, one.Delimiter = string(t.charset), string(t.delimiter)
		for i, column := range columns {
			described := column.describe(t.columns[i], &t.sketches[i])
			one.Columns = append(one.Columns, described)
			if repeated, kept := t.sketches[i].repeated(), len(t.sketches[i].queue); column.empty == 0 && repeated > 0 && repeated*20 <= kept && t.keyLike(i) && kept > 20 {
				what := "values that occur more than once, while nearly all differ"
				one.Columns[i].Suspicious = append(one.Columns[i].Suspicious, ValueReport{What: what, Count: repeated})
			}
			if column.filled > 0 && column.empty == 0 && one.Rows > 1 && t.sketches[i].repeated() == 0 && t.keyLike(i) {
				one.Keys = append(one.Keys, t.columns[i])
			}
		}
		tables = append(tables, t)
		p.Tables = append(p.Tables, one)
	}
	if len(tables) == 0 {
		return nil, fmt.Errorf("%s has no tables: files that end with .csv, .tsv, .txt or .xlsx", folder)
	}
	p.findLinks(tables)
	return p, nil
}

const (
	maxPatterns    = 200 // counted per column
	maxShownValues = 5   // patterns and extremes that are shown
	reservoirSize  = 1_000
)

// columnCounter collects the figures of a column in bounded memory.
type columnCounter struct {
	kind          string
	format        *datePattern
	comma         bool
	filled, empty int
	longest       int
	atLongest     []string // a few different values of that length
	spaces        bool
	min, max      extreme
	patterns      map[string]*ValueCount
	others        int // values whose pattern was not counted
	reports       map[string]*ValueReport
	numbers       []float64 // every nth number
	every, seen   int
	low, high     []extreme // the smallest and the largest numbers
}

// extreme is a value and its place in the order.
type extreme struct {
	text  string
	order float64
	line  int
}

// newCounters chooses the type of each column by its first values. Most of them must fit; the others
// are reported.
func newCounters(t *suggestedTable) (list []*columnCounter) {
	for i := range t.columns {
		c := &columnCounter{kind: "text", patterns: map[string]*ValueCount{}, reports: map[string]*ValueReport{}, every: 1}
		values := t.values(i)
		values = values[:min(len(values), reservoirSize)]
		most := func(holds func(string) bool) bool {
			count := 0
			for _, value := range values {
				if holds(value) {
					count++
				}
			}
			return len(values) > 0 && count*10 >= len(values)*9
		}
		for _, formats := range [][]string{dayPatterns, instantPatterns()} {
			for _, text := range formats {
				pattern, err := newPattern(text)
				if c.format == nil && err == nil && most(func(value string) bool {
					at, ok := pattern.read([]byte(value))
					return ok && (at.year >= 1850 || at.year == 1)
				}) {
					c.format, c.kind = pattern, "date"
					if pattern.clock {
						c.kind = "datetime"
					}
				}
			}
		}
		switch {
		case len(values) == 0:
			c.kind = "empty"
		case c.format != nil:
		case most(func(value string) bool { return strings.Trim(value, "-+0123456789") == "" }):
			c.kind = "integer"
		case most(func(value string) bool { _, is := plainNumber(value, t.comma); return is }):
			c.kind, c.comma = "number", t.comma
		case most(func(value string) bool { return strings.Contains(value, "@") }):
			c.kind = "email"
		}
		list = append(list, c)
	}
	return list
}

// add counts a value.
func (c *columnCounter) add(t *suggestedTable, line int, field []byte) {
	decoded, wrong := t.charset.decode(nil, trimBlanks(field))
	text := strings.TrimSpace(string(decoded))
	if wrong != "" {
		c.report("cannot be read in this encoding", text, line)
	}
	if text == "" || isNullWord(text) {
		if c.empty++; text != "" {
			c.report("means an empty value", text, line)
		}
		return
	}
	c.filled++
	switch length := len([]rune(text)); {
	case length > c.longest:
		c.longest, c.atLongest = length, []string{text}
	case length == c.longest && len(c.atLongest) < maxShownValues && !slices.Contains(c.atLongest, text):
		c.atLongest = append(c.atLongest, text)
	}
	c.spaces = c.spaces || strings.Contains(text, " ")
	c.count(text)
	if what := suspicious(text); what != "" {
		c.report(what, text, line)
	}
	order, fits := c.order(text, line)
	if !fits {
		return
	}
	one := extreme{text, order, line}
	switch {
	case c.min.line == 0:
		c.min, c.max = one, one
	case c.kind == "text" || c.kind == "email":
		if text < c.min.text {
			c.min = one
		}
		if text > c.max.text {
			c.max = one
		}
	default:
		if order < c.min.order {
			c.min = one
		}
		if order > c.max.order {
			c.max = one
		}
	}
	if c.kind == "integer" || c.kind == "number" {
		c.sample(one)
	}
}

// order returns the place of a value in the order of its type.
func (c *columnCounter) order(text string, line int) (order float64, fits bool) {
	switch c.kind {
	case "date", "datetime":
		at, ok := c.format.read([]byte(text))
		if !ok {
			c.report("not a "+c.kind+" as "+c.format.text, text, line)
			return 0, false
		}
		if what := placeholderDate(at); what != "" {
			c.report(what, text, line)
			return 0, false // it would hide the real range
		}
		return float64(((at.year*100+at.month)*100+at.day)*86_400 + at.hour*3_600 + at.minute*60 + at.second), true
	case "integer", "number":
		number, is := plainNumber(text, c.comma)
		if !is {
			c.report("not a number", text, line)
			return 0, false
		}
		return number, true
	}
	return 0, true
}

// plainNumber reads a number for comparison only. A number with spaces in it is more often a telephone
// number.
func plainNumber(text string, comma bool) (number float64, is bool) {
	plain := strings.Trim(text, " £$€()CRDcrd")
	if comma {
		plain = strings.ReplaceAll(strings.ReplaceAll(plain, ".", ""), ",", ".")
	} else {
		plain = strings.ReplaceAll(plain, ",", "")
	}
	if short, trailing := strings.CutSuffix(plain, "-"); trailing {
		plain = "-" + short
	}
	number, err := strconv.ParseFloat(plain, 64)
	return number, err == nil
}

// count counts the pattern of a value.
func (c *columnCounter) count(text string) {
	pattern := patternOf(text)
	one := c.patterns[pattern]
	if one == nil {
		if len(c.patterns) == maxPatterns {
			c.others++
			return
		}
		one = &ValueCount{Pattern: pattern, Example: shorten([]byte(text))}
		c.patterns[pattern] = one
	}
	one.Count++
}

// patternOf replaces letters by A and digits by 9. Several of one kind become one with a plus.
func patternOf(text string) string {
	var out []byte
	var last byte
	for _, r := range text {
		kind := byte('A')
		switch {
		case r >= '0' && r <= '9':
			kind = '9'
		case r < 0x80 && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z'):
			out, last = append(out, byte(max(r, ' '))), 0
			continue
		}
		switch {
		case last == kind && out[len(out)-1] != '+':
			out = append(out, '+')
		case last != kind:
			out, last = append(out, kind), kind
		}
		if len(out) > 40 {
			return string(out) + "…"
		}
	}
	return string(out)
}

// report counts a value that someone should look at.
func (c *columnCounter) report(what, text string, line int) {
	one := c.reports[what]
	if one == nil {
		one = &ValueReport{What: what, Value: shorten([]byte(text)), Line: line}
		c.reports[what] = one
	}
	one.Count++
}

// sample keeps every nth number, to find out what is usual, and the smallest and largest ones.
func (c *columnCounter) sample(one extreme) {
	if c.seen++; c.seen%c.every == 0 {
		if len(c.numbers) == 2*reservoirSize {
			for i := range reservoirSize {
				c.numbers[i] = c.numbers[2*i+1]
			}
			c.numbers, c.every = c.numbers[:reservoirSize], 2*c.every
		}
		c.numbers = append(c.numbers, one.order)
	}
	keep := func(list []extreme, before func(a, b float64) bool) []extreme {
		at := slices.IndexFunc(list, func(other extreme) bool { return before(one.order, other.order) })
		if at < 0 {
			at = len(list)
		}
		if at == maxShownValues {
			return list
		}
		list = slices.Insert(list, at, one)
		return list[:min(len(list), maxShownValues)]
	}
	c.low = keep(c.low, func(a, b float64) bool { return a < b })
	c.high = keep(c.high, func(a, b float64) bool { return a > b })
}

// describe returns the figures of a column.
func (c *columnCounter) describe(name string, s *sketch) ColumnProfile {
	p := ColumnProfile{
		Name: name, Type: c.kind, Filled: c.filled, Empty: c.empty, Distinct: s.distinct(), Exact: s.exact(),
		Min: shorten([]byte(c.min.text)), Max: shorten([]byte(c.max.text)), Longest: c.longest, Patterns: []ValueCount{}, Suspicious: []ValueReport{},
	}
	if c.format != nil {
		p.Format = c.format.text
	}
	for _, one := range c.patterns {
		p.Patterns = append(p.Patterns, *one)
	}
	slices.SortFunc(p.Patterns, func(a, b ValueCount) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Pattern, b.Pattern)
	})
	// A value unlike nearly all others is often a mistake.
	for _, one := range p.Patterns {
		if c.kind == "text" && !c.spaces && c.filled >= 200 && len(p.Patterns) <= 10 && one.Count*500 <= c.filled {
			c.reports["rare pattern "+one.Pattern] = &ValueReport{"rare pattern " + one.Pattern, one.Count, one.Example, 0}
		}
	}
	p.Patterns = p.Patterns[:min(len(p.Patterns), maxShownValues)]
	// Different texts of the greatest length were probably longer.
	if c.kind == "text" && c.spaces && c.longest >= 15 && len(c.atLongest) == maxShownValues {
		what := "several end at " + strconv.Itoa(c.longest) + " characters, and may be cut off"
		c.reports[what] = &ValueReport{what, len(c.atLongest), shorten([]byte(c.atLongest[0])), 0}
	}
	c.outliers()
	for _, one := range c.reports {
		p.Suspicious = append(p.Suspicious, *one)
	}
	slices.SortFunc(p.Suspicious, func(a, b ValueReport) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.What, b.What)
	})
	return p
}

// outliers reports numbers far from the others: more than ten times the distance between the
// quartiles outside of them.
func (c *columnCounter) outliers() {
	if len(c.numbers) < 20 {
		return
	}
	slices.Sort(c.numbers)
	first, third := c.numbers[len(c.numbers)/4], c.numbers[len(c.numbers)*3/4]
	distance := 10 * (third - first)
	if distance == 0 {
		return
	}
	for _, one := range slices.Concat(c.low, c.high) {
		if one.order < first-distance || one.order > third+distance {
			c.report("far from the other numbers", one.text, one.line)
		}
	}
}

// testWords are names and texts that people enter to try a system out.
var testWords = []string{"test", "tests", "testing", "tester", "dummy", "asdf", "qwerty", "xxx", "xxxx", "foo", "do not use", "donotuse", "mickey mouse", "donald duck", "zzz", "tbc", "tba"}

// suspicious says what is unusual about a value of any type, or returns "".
func suspicious(text string) string {
	if shortened([]byte(text)) {
		return "a number that a spreadsheet shortened"
	}
	if strings.ContainsRune(text, '�') || strings.Contains(text, "Ã") || strings.Contains(text, "â€") {
		return "characters damaged by a wrong encoding"
	}
	if strings.HasPrefix(text, "#REF!") || strings.HasPrefix(text, "#VALUE!") || strings.HasPrefix(text, "#NAME?") || strings.HasPrefix(text, "#DIV/0!") {
		return "an error of a spreadsheet"
	}
	lower := strings.ToLower(text)
	if slices.Contains(testWords, lower) || strings.HasPrefix(lower, "test ") || strings.HasSuffix(lower, " test") || strings.Contains(lower, "@test.") || strings.HasPrefix(lower, "test@") {
		return "looks like test data"
	}
	if len(text) >= 7 && strings.Trim(text, text[:1]) == "" && text[0] >= '0' && text[0] <= '9' {
		return "one digit repeated"
	}
	return ""
}

// placeholderDate says what a date stands for that is hardly a real one.
func placeholderDate(at dateTime) string {
	switch {
	case at.month == 1 && at.day == 1 && (at.year == 1900 || at.year == 1901 || at.year == 1753 || at.year == 1 || at.year == 1970), at.year == 1899:
		return "a date that stands for none"
	case at.year >= 2900:
		return "a date that stands for no end"
	}
	return ""
}
