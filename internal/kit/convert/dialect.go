package convert

import (
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
	times            localTimes
	empty            []string // words that mean an empty value
}

// dialectSettings are the settings of a dialect, in source for all tables or in a single table.
var dialectSettings = []string{
	"encoding", "delimiter", "quote", "decimal", "grouping", "dates", "datetimes", "zone", "clock_changes", "empty",
}

// defaultDialect applies unless the map says otherwise.
func defaultDialect() dialect {
	day, _ := newPattern("YYYY-MM-DD")
	return dialect{
		charset: utf8Charset, delimiter: ',', quote: '"', numbers: numberFormat{decimal: '.'}, days: []*datePattern{day},
		times: localTimes{time.UTC, clockReport},
	}
}

// dialect reads the settings of a dialect on top of the given one.
func (m *mapReader) dialect(node *yamltree.Node, d dialect) dialect {
	d.charset = charset(m.word(node, "encoding", string(d.charset), charsets))
	d.delimiter = m.letter(node, "delimiter", d.delimiter, map[string]byte{"tab": '\t', "comma": ',', "semicolon": ';', "pipe": '|'})
	d.quote = m.letter(node, "quote", d.quote, map[string]byte{"none": 0, "no": 0})
	d.numbers = m.figure(node, d.numbers)
	d.days = m.patterns(node, "dates", d.days)
	d.instants = m.patterns(node, "datetimes", d.instants)
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
	none := map[string]byte{"none": 0, "": 0}
	f.decimal = m.letter(node, "decimal", f.decimal, nil)
	f.grouping = m.letter(node, "grouping", f.grouping, none)
	if f.decimal == f.grouping {
		m.errorf(node.Line, "decimal and grouping must differ")
	}
	return f
}

// patterns reads the formats of dates or times. The first that matches is used.
func (m *mapReader) patterns(node *yamltree.Node, name string, usual []*datePattern) []*datePattern {
	given := node.Find(name)
	if given == nil {
		return usual
	}
	var list []*datePattern
	for _, text := range m.texts(given, name) {
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
