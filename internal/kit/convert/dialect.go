package convert

import (
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // zones must be known on hosts without a zone database

	"landfall/internal/lib/yamltree"
)

// dialect describes how the files of a table are written.
type dialect struct {
	charset          charset
	delimiter, quote byte
	numbers          numberFormat
	days, instants   []*datePattern
	century          centuryRule
	times            localTimes
	keepMixed        bool     // values that can be read in two ways are read as the map says
	empty            []string // words that mean an empty value
	escape           byte     // the character before special characters, or 0
	multiline        bool     // texts may contain lines that look like rows
}

// detectedDelimiter is the delimiter of files that show it.
const detectedDelimiter = 1

// dialectSettings are the settings of a dialect, in source for all tables or in a single table.
var dialectSettings = []string{
	"encoding", "delimiter", "quote", "escape", "multiline", "decimal", "grouping", "signs", "currency", "dates", "datetimes", "century", "zone", "clock_changes", "mixed_formats", "empty",
}

// mixedChoices are the values of the setting mixed_formats.
var mixedChoices = []string{"report", "keep"}

// defaultDialect applies unless the map says otherwise.
func defaultDialect() dialect {
	day, _ := newPattern("YYYY-MM-DD")
	return dialect{
		charset: utf8Charset, delimiter: ',', quote: '"', numbers: numberFormat{decimal: '.'}, days: []*datePattern{day},
		times: localTimes{time.UTC, clockReport}, century: centuryRule{pivot: centuryPivot},
	}
}

// dialect reads the settings of a dialect on top of the given one.
func (m *mapReader) dialect(node *yamltree.Node, d dialect) dialect {
	d.charset = charset(m.word(node, "encoding", string(d.charset), charsets))
	d.delimiter = m.letter(node, "delimiter", d.delimiter, map[string]byte{"tab": '\t', "comma": ',', "semicolon": ';', "pipe": '|', "detect": detectedDelimiter})
	d.quote = m.letter(node, "quote", d.quote, map[string]byte{"none": 0, "no": 0})
	d.escape = m.letter(node, "escape", d.escape, map[string]byte{"none": 0, "backslash": '\\'})
	if node.Find("multiline") != nil {
		d.multiline = m.flag(node, "multiline")
	}
	d.numbers = m.figure(node, d.numbers)
	d.century = m.century(node, d.century)
	d.days = d.century.apply(m.patterns(node, "dates", d.days))
	d.instants = d.century.apply(m.patterns(node, "datetimes", d.instants))
	d.keepMixed = m.mixed(node, d.keepMixed)
	if name, line := m.text(node, "zone"); name != "" {
		zone, err := time.LoadLocation(name)
		// Local would mean a different time on every machine.
		if err != nil || name == "Local" {
			m.errorf(line, "unknown zone %s; write it as Europe/London", name)
			zone = time.UTC
		}
		d.times.zone = zone
	}
	d.times.changes = m.word(node, "clock_changes", d.times.changes, clockChoices)
	if words := node.Find("empty"); words != nil {
		d.empty = m.texts(words, "empty")
	}
	if d.delimiter == d.quote {
		m.errorf(node.Line, "delimiter and quote must differ")
	}
	return d
}

// figure reads how numbers are written. The two marks must differ, or 1.234 would be ambiguous.
func (m *mapReader) figure(node *yamltree.Node, f numberFormat) numberFormat {
	none := map[string]byte{"none": 0, "": 0, "space": ' '}
	f.decimal = m.letter(node, "decimal", f.decimal, nil)
	f.grouping = m.letter(node, "grouping", f.grouping, none)
	if f.decimal == f.grouping {
		m.errorf(node.Line, "decimal and grouping must differ")
	}
	if words := node.Find("currency"); words != nil {
		f.currencies = m.words(words, "currency")
	}
	if words := node.Find("signs"); words != nil {
		f.signs = m.signs(words)
	}
	return f
}

// words reads texts that may stand beside a number. Without digits and marks they cannot be a part of
// it.
func (m *mapReader) words(node *yamltree.Node, what string) (list []string) {
	for _, word := range m.texts(node, what) {
		if word == chooseMark {
			m.errorf(node.Line, "%s says %s: decide which words it has", what, chooseMark)
			continue
		}
		word = strings.TrimSpace(word)
		letters := word
		if what == "currency" {
			letters = strings.TrimSuffix(word, ".") // Rs. and Fr.
		}
		if letters == "" || strings.ContainsAny(letters, "0123456789.,+-()") {
			m.errorf(node.Line, "%s must be words without digits and marks, such as £ or GBP", what)
			continue
		}
		list = append(list, word)
	}
	return list
}

// signs reads the words that say whether a number is negative.
func (m *mapReader) signs(node *yamltree.Node) (list []signWord) {
	if node.Kind != yamltree.Mapping {
		m.errorf(node.Line, "signs must be words and what they mean, such as {CR: plus, DR: minus}")
		return nil
	}
	for _, member := range node.Members {
		for _, word := range m.words(&yamltree.Node{Kind: yamltree.Scalar, Line: member.Line, Text: member.Name}, "signs") {
			meaning := m.word(node, member.Name, "", []string{"plus", "minus", "+", "-"})
			list = append(list, signWord{word, meaning == "minus" || meaning == "-"})
		}
	}
	return list
}

// centuryRule is what two-digit years mean.
type centuryRule struct {
	pivot  int
	latest dateTime // dates after this day are a century earlier; zero if there is no such day
	given  bool     // the map says so
}

// adultYears is how old the holder of an account is at least.
const adultYears = 18

// century reads what two-digit years mean: a pivot, past for dates that are never in the future, or
// adult for dates of birth.
func (m *mapReader) century(node *yamltree.Node, usual centuryRule) centuryRule {
	text, line := m.text(node, "century")
	if text == "" {
		return usual
	}
	number, err := strconv.Atoi(text)
	switch now := time.Now().UTC(); {
	case text == "past":
		return centuryRule{100, dateTime{year: now.Year(), month: int(now.Month()), day: now.Day()}, true}
	case text == "adult":
		return centuryRule{100, dateTime{year: now.Year() - adultYears, month: int(now.Month()), day: now.Day()}, true}
	case err == nil && number >= 0 && number <= 100:
		return centuryRule{pivot: number, given: true}
	}
	m.errorf(line, "century must be past, adult (for dates of birth), or the first two-digit year of the last century, such as 50: 49 is then 2049, and 50 is 1950")
	return usual
}

// apply returns the patterns with the rule.
func (rule centuryRule) apply(patterns []*datePattern) (list []*datePattern) {
	for _, one := range patterns {
		list = append(list, one.inCentury(rule))
	}
	return list
}

// mixed reads whether values that can be read in two ways are kept in a column that has both.
func (m *mapReader) mixed(node *yamltree.Node, usual bool) bool {
	return m.word(node, "mixed_formats", map[bool]string{true: "keep", false: "report"}[usual], mixedChoices) == "keep"
}

// patterns reads the formats of dates or times. The first that matches is used.
func (m *mapReader) patterns(node *yamltree.Node, name string, usual []*datePattern) []*datePattern {
	given := node.Find(name)
	if given == nil {
		return usual
	}
	var list []*datePattern
	for _, text := range m.texts(given, name) {
		if text == chooseMark {
			m.errorf(given.Line, "%s says %s: decide how to read them", name, chooseMark)
			continue
		}
		parsed, err := newPattern(text)
		if err != nil {
			m.errorf(given.Line, "%s: %s", name, err)
			continue
		}
		list = append(list, parsed)
	}
	if len(list) == 0 {
		return usual
	}
	return list
}
