package convert

import (
	"slices"

	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// A column is written in one way, wherever the map reads it. An attr can say how; a condition or
// several that compares the same column then reads it in the same way.

// inheritedFormat is how an attr says that its parts are written.
type inheritedFormat struct {
	numbers     numberFormat
	days        []*datePattern // nil for those of the table
	keepMixed   bool
	figured     bool // the map says here how numbers are written
	dated       bool // and dates
	conditional bool // only some rows are read like this
	alternative bool // it is a part of first, so another one may have the value
}

// columnUse is a value that is a column as it is, or the comparison of one.
type columnUse struct {
	table *sourceTable
	line  int
	of    *expression
	inheritedFormat
}

// hasAny reports whether a node has one of some settings.
func hasAny(node *yamltree.Node, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return node.Find(name) != nil })
}

// inherit adds the settings of a value to those that it has inherited, for its parts.
func (c *mapCompiler) inherit(t *sourceTable, node *yamltree.Node, v *expression, written inheritedFormat) inheritedFormat {
	written.numbers = c.figure(node, v.numbers)
	written.numbers.minor = c.minorUnits(node, v.numbers.minor)
	written.keepMixed = c.mixed(node, v.keepMixed)
	if hasAny(node, daySettings) {
		written.days = c.century(node, t.dialect.century).apply(c.patterns(node, "dates", v.days))
	}
	written.figured = written.figured || hasAny(node, figureSettings)
	written.dated = written.dated || hasAny(node, daySettings)
	written.conditional = written.conditional || node.Find("when") != nil
	return written
}

// noteUse remembers how a column is read.
func (c *mapCompiler) noteUse(t *sourceTable, node *yamltree.Node, v *expression, written inheritedFormat) {
	if v.column < 0 || v.typ == nil || !holdsNumbers(v.typ) && !holdsDates(v.typ) {
		return
	}
	if t.figures == nil {
		t.figures = map[int]bool{}
	}
	t.figures[v.column] = true
	if node.Kind == yamltree.Mapping {
		if node.Find("column") == nil || hasAny(node, cuttingSettings) {
			return
		}
		written = c.inherit(t, node, v, written)
	}
	use := columnUse{table: t, line: node.Line, of: v, inheritedFormat: written}
	switch {
	case c.filling != nil:
		use.conditional = use.conditional || len(c.filling.when) > 0
		c.uses = append(c.uses, use)
	case !use.declares():
		c.compared = append(c.compared, use)
	}
}

// declares reports whether the map says how the column is written.
func (u *columnUse) declares() bool {
	return u.figured && holdsNumbers(u.of.typ) || u.dated && holdsDates(u.of.typ)
}

// column names the column in messages.
func (u *columnUse) column() string { return u.table.columns[u.of.column] }

// meets reports whether two uses read the same column of the same files, both for numbers or both for dates.
func (u *columnUse) meets(other *columnUse) bool {
	return u.of.column == other.of.column && u.table.sharesColumns(other.table) && holdsNumbers(u.of.typ) == holdsNumbers(other.of.typ)
}

// agrees reports whether two uses read a column in the same way.
func (u *columnUse) agrees(other *columnUse) bool {
	if holdsNumbers(u.of.typ) {
		a, b := u.of.numbers, other.of.numbers
		return a.decimal == b.decimal && a.grouping == b.grouping && a.minor == b.minor && slices.Equal(a.signs, b.signs) && slices.Equal(a.currencies, b.currencies)
	}
	return slices.EqualFunc(u.of.days, other.of.days, func(a, b *datePattern) bool {
		return a.text == b.text && a.century.pivot == b.century.pivot && a.century.latest == b.century.latest
	})
}

// settleFormats lets comparisons read a column as its attr says, and reports columns that are read in
// two ways.
func (c *mapCompiler) settleFormats() {
	for i := range c.uses {
		one := &c.uses[i]
		for k := range c.uses[:i] {
			other := &c.uses[k]
			if one.meets(other) && (one.declares() || other.declares()) && !one.conditional && !other.conditional && !one.agrees(other) {
				c.errorf(one.line, "column %s is read in another way in line %d; set the same format for both, or for the whole table", one.column(), other.line)
			}
		}
	}
	for i := range c.compared {
		one := &c.compared[i]
		var found *columnUse
		for k := range c.uses {
			use := &c.uses[k]
			if !one.meets(use) {
				continue
			}
			if found != nil && (found.declares() || use.declares()) && !found.agrees(use) {
				c.errorf(one.line, "column %s is read in different ways in line %d and line %d; set its format here too", one.column(), found.line, use.line)
				break
			}
			if found == nil || use.declares() {
				found = use
			}
		}
		if found == nil || !found.declares() {
			continue
		}
		reversed := one.of.numbers.reversed
		one.of.numbers, one.of.days, one.of.keepMixed = found.of.numbers, found.of.days, found.of.keepMixed
		one.of.numbers.reversed = reversed
	}
}

// holdsDates reports whether values of a type are dates or times.
func holdsDates(typ *rules.Type) bool {
	return typ.Shape == rules.ShapeDate || typ.Shape == rules.ShapeDatetime
}
