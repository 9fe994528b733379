package convert

import (
	"fmt"
	"slices"
	"strings"

	"landfall/internal/lib/yamltree"
)

// lostTable is a table of another map that could not be taken over, and the first column it lacks.
type lostTable struct{ name, column string }

// rowSettings say which rows of a table count.
var rowSettings = []string{"distinct", "when", "several", "optional", "orphans"}

// otherRows writes which rows count, as in the other map. What needs a column that is missing is for a
// person to decide.
func (w *mapWriter) otherRows(t *suggestedTable) {
	if t.other == nil {
		return
	}
	into := t.other.Find("into")
	if into != nil && into.Kind == yamltree.List {
		w.choose(2, "when", fmt.Sprintf("the other map has %s for these rows, each with its own settings; write into as there, or remove this line",
			counted(len(into.Items), "place", "places")))
	}
	for _, name := range rowSettings {
		node := t.other.Find(name)
		if node == nil || name == "several" && t.inside != nil || name == "when" && into != nil && into.Kind == yamltree.List {
			continue
		}
		columns := choiceColumns(node)
		if name == "when" {
			columns = conditionColumns(node)
		}
		text := node.Text // true
		if node.Kind != yamltree.Scalar {
			text = w.learned.render(t, node, name)
		}
		if name != "orphans" {
			if at := slices.IndexFunc(columns, func(column string) bool { return t.columnNamed(plainName(column)) == "" }); at >= 0 {
				w.choose(2, name, "the other map has it with the column "+columns[at]+", which "+t.file+" does not have")
				continue
			}
		}
		w.line(2, name+": "+text, "as in the other map")
	}
}

// missing returns the first missing column from which the other map fills an attr of a table, or "".
func (l *learnedAttrs) missing(t *suggestedTable, kind *tableKind, attr string) string {
	for _, one := range l.attrs[kind.name+"."+attr] {
		if t.other == nil || one.table == nil || one.table.node != t.other {
			continue
		}
		for _, column := range columnsIn(one.node) {
			if t.columnNamed(plainName(column)) == "" {
				return column
			}
		}
	}
	return ""
}

// missingIn reports whether the other map fills an attr of a kind from a missing column.
func (l *learnedAttrs) missingIn(t *suggestedTable, kind *tableKind) bool {
	for id := range l.attrs {
		if attr, found := strings.CutPrefix(id, kind.name+"."); found && l.missing(t, kind, attr) != "" {
			return true
		}
	}
	return false
}
