package convert

import (
	"fmt"
	"slices"
	"strings"

	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// usual returns how the other map says that tables are written.
func (l *learnedAttrs) usual() *suggestedTable {
	d := l.dialect()
	t := &suggestedTable{inspection: &inspection{charset: d.charset, delimiter: d.delimiter, quote: d.quote}, numbers: true}
	t.comma = d.numbers.decimal == ','
	t.grouped = d.numbers.grouping == '.' || d.numbers.grouping == ','
	if len(d.days) > 0 {
		t.days = d.days[0].text
	}
	if len(d.instants) > 0 {
		t.instants = d.instants[0].text
	}
	return t
}

// dialect returns the settings of the other map. What is wrong with them is reported when a map has them.
func (l *learnedAttrs) dialect() dialect {
	return (&mapReader{}).dialect(l.source, defaultDialect())
}

// otherSource writes the settings of the other map. Its tables were right with them, so what the new tables
// contradict is for a person to decide.
func (w *mapWriter) otherSource() {
	written := map[string]bool{}
	for _, member := range w.learned.source.Members {
		written[member.Name] = true
		text := w.learned.render(nil, member.Node, member.Name)
		if why := w.contradiction(member.Name); why != "" {
			w.choose(1, member.Name, "the other map says "+text+", but "+why)
			continue
		}
		w.line(1, member.Name+": "+text, "as in the other map")
	}
	for _, name := range dialectSettings {
		if why := w.contradiction(name); why != "" && !written[name] {
			w.choose(1, name, "the other map does not have it, but "+why)
		}
	}
	if w.hasLocalTimes() && !written["zone"] {
		w.choose(1, "zone", "the time zone of the times, such as Europe/London, or UTC")
	}
}

// contradiction says how the tables contradict a setting of the other map, or returns "".
func (w *mapWriter) contradiction(name string) string {
	d := w.learned.dialect()
	for _, t := range w.tables {
		// A table that says something else is written with its own settings.
		if t.other == nil || t.other.Find(name) != nil || isWorkbook(t.file) && name != "empty" {
			continue
		}
		switch name {
		case "encoding":
			if t.copied && !t.readsAs(d.charset) {
				return t.file + " is not " + string(d.charset) + ", probably " + string(t.charset)
			}
		case "delimiter":
			if t.copied && len(t.columns) > 1 && d.delimiter != t.delimiter && d.delimiter != detectedDelimiter {
				return fmt.Sprintf("%s has %q", t.file, t.delimiter)
			}
		case "empty":
			for _, word := range nullWords {
				if t.empty[word] && !slices.Contains(d.empty, word) {
					return t.file + " has " + word + ", which often means that there is no value"
				}
			}
		default:
			if why := t.otherFormat(name, d); why != "" {
				return why
			}
		}
	}
	return ""
}

// otherFormat says which values of the attrs that are as in the other map are not written as it says.
func (t *suggestedTable) otherFormat(name string, d dialect) string {
	if t.placement == nil {
		return ""
	}
	for s, m := range t.placement.placed {
		// The attr says more about its column.
		if m.text == "" || len(m.reads) != 1 || strings.Contains(m.text, name+":") || strings.Contains(m.text, "dates:") || containsAny(m.text, cuttingSettings) {
			continue
		}
		values := slices.DeleteFunc(t.values(m.column), func(value string) bool { return slices.Contains(d.empty, value) })
		switch shape := s.field.Type.Shape; {
		case name == "decimal" && (shape == rules.ShapeAmount || shape == rules.ShapeDecimal):
			if is := numberStyleOf(values).decimal; is != 0 && is != d.numbers.decimal {
				return fmt.Sprintf("%s has numbers with %q in %s", t.file, is, t.columns[m.column])
			}
		case name == "dates" && shape == rules.ShapeDate, name == "datetimes" && shape == rules.ShapeDatetime:
			patterns := d.days
			if shape == rules.ShapeDatetime {
				patterns = slices.Concat(d.instants, d.days)
			}
			bad := slices.DeleteFunc(values, func(value string) bool {
				return slices.ContainsFunc(patterns, func(pattern *datePattern) bool { _, is := pattern.read([]byte(value)); return is })
			})
			if len(bad) > fewOf(len(values)) {
				return fmt.Sprintf("%s has %s in %s", t.file, shorten([]byte(bad[0])), t.columns[m.column])
			}
		}
	}
	return ""
}

// containsAny reports whether a text has one of some settings.
func containsAny(text string, settings []string) bool {
	return slices.ContainsFunc(settings, func(name string) bool { return strings.Contains(text, name+":") })
}

// part returns how the other map fills a part of the rows from another table, or "". All columns for it must
// still be there.
func (l *learnedAttrs) part(t *suggestedTable, inner *tableKind) string {
	if node := t.otherPart(inner); node != nil {
		return l.render(t, node, inner.attr)
	}
	return ""
}

// otherPart finds the same part in the other map.
func (t *suggestedTable) otherPart(inner *tableKind) *yamltree.Node {
	if t.other == nil || t.placement == nil || inner.parent != t.placement.kind {
		return nil
	}
	fill := t.other.Find("fill")
	if into := t.other.Find("into"); into != nil && into.Kind == yamltree.List && len(into.Items) > 0 && into.Items[0].Find("fill") != nil {
		fill = into.Items[0].Find("fill")
	}
	if fill == nil {
		return nil
	}
	node := fill.Find(inner.attr)
	missing := func(column string) bool { return !slices.Contains(t.columns, column) }
	if node == nil || !hasRows(node) || slices.ContainsFunc(columnsIn(node), missing) {
		return nil
	}
	return node
}

// hasRows reports whether a part of a fill takes rows of another table.
func hasRows(node *yamltree.Node) bool {
	return node.Find("rows") != nil || slices.ContainsFunc(node.Items, hasRows) ||
		slices.ContainsFunc(node.Members, func(member yamltree.Member) bool { return hasRows(member.Node) })
}

// reads returns the columns that a placed attr reads, by their indexes. An attr inside a part that is as in
// the other map reads none: the part does.
func (t *suggestedTable) reads(m match) (list []int) {
	kind := m.slot.kind
	for kind.parent != nil && kind.parent != t.placement.kind {
		kind = kind.parent
	}
	if node := t.otherPart(kind); node != nil {
		for _, column := range columnsIn(node) {
			list = append(list, slices.Index(t.columns, column))
		}
		return list
	}
	for column, name := range t.columns {
		if column == m.column || slices.Contains(m.reads, plainName(name)) {
			list = append(list, column)
		}
	}
	return list
}

// lineCount counts lines and keeps the first.
type lineCount struct{ count, first int }

func (c *lineCount) add(line int) {
	if c.count++; c.count == 1 {
		c.first = line
	}
}

// hasMinus reports whether a text looks like a negative number: -5, 5- or (5).
func hasMinus(text []byte) bool {
	last := len(text) - 1
	return last > 0 && (text[0] == '-' || text[last] == '-' || text[0] == '(' && text[last] == ')')
}

// counted returns a number with the right form of a word.
func counted(count int, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return fmt.Sprint(count, " ", many)
}
