package convert

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

var (
	// figureSettings and daySettings say how the numbers and dates of a column are written.
	figureSettings = []string{"decimal", "grouping", "signs", "currency", "minor_units"}
	daySettings    = []string{"dates", "century"}
	// formatSettings say how numbers and dates are written, and what is made of them.
	formatSettings = slices.Concat(figureSettings, daySettings, []string{"days", "zone", "round", "sign", "negative_when", "positive_when", "mixed_formats"})
	// cuttingSettings make another text of the value of a column.
	cuttingSettings = []string{"extract", "remove", "strip", "split", "part", "upper", "lower", "values", "otherwise"}
	// changingSettings change a value in any way.
	changingSettings = slices.Concat(cuttingSettings, []string{"default"}, formatSettings)
	// valueSettings are the settings of an attr in a map.
	valueSettings = append([]string{"column", "constant", "join", "with", "first", "sum", "product", "trim", "when"}, changingSettings...)
)

// expression compiles a value. typ is the type of the attr it fills, or nil for plain text.
func (c *mapCompiler) expression(t *sourceTable, node *yamltree.Node, typ *rules.Type) *expression {
	return c.part(t, node, typ, inheritedFormat{numbers: t.dialect.numbers, keepMixed: t.dialect.keepMixed})
}

// part compiles a value that is a part of another one, which says how it is written.
func (c *mapCompiler) part(t *sourceTable, node *yamltree.Node, typ *rules.Type, written inheritedFormat) *expression {
	v := &expression{column: -1, typ: typ, numbers: written.numbers, times: t.dialect.times, rounded: -1, keepMixed: written.keepMixed}
	// Empty until set, so that a map with mistakes can be read to its end.
	v.text = func(*currentRow) []byte { return nil }
	v.quoted = typ != nil && typ.Shape != rules.ShapeBoolean && typ.Shape != rules.ShapeInteger
	if typ != nil && typ.Shape == rules.ShapeDatetime {
		v.days = t.dialect.instants
		// A column of datetimes may contain plain dates, which mean midnight.
		if len(v.days) == 0 {
			v.days = t.dialect.days
		}
	} else {
		v.days = t.dialect.days
	}
	if written.days != nil {
		v.days = written.days
	}
	switch node.Kind {
	case yamltree.Scalar:
		c.plain(t, node, v)
	case yamltree.Mapping:
		c.structured(t, node, v, written)
	default:
		c.errorf(node.Line, "this must be the name of a column, =constant, or {column: …}")
	}
	c.noteUse(t, node, v, written)
	return v
}

// plain compiles one word: a column, or a constant after an equals sign.
func (c *mapCompiler) plain(t *sourceTable, node *yamltree.Node, v *expression) {
	if constant, is := strings.CutPrefix(node.Text, "="); is {
		// ="007" is the text between the quotes.
		if text := ""; strings.HasPrefix(constant, `"`) && json.Unmarshal([]byte(constant), &text) == nil {
			constant = text
		}
		c.constant(constant, v)
		return
	}
	if v.column = c.column(t, node.Line, node.Text); v.column >= 0 {
		v.text, v.direct = columnText(v.column, true), true
	}
}

// column returns the index of a column, or -1 after reporting that there is none.
func (c *mapCompiler) column(t *sourceTable, line int, name string) int {
	at := slices.Index(t.columns, name)
	switch {
	case at < 0 && t.unread:
		return -1 // the missing table was already reported
	case at < 0:
		c.unknown(line, "column", name, t.shortName(), t.columns)
	case slices.Index(t.columns[at+1:], name) >= 0:
		// A wrong guess would spoil every row.
		c.errorf(line, "%s has two columns %s; rename its columns with columns: […]", t.shortName(), name)
	default:
		t.mention(at)
	}
	return at
}

// structured compiles an expression with settings.
func (c *mapCompiler) structured(t *sourceTable, node *yamltree.Node, v *expression, written inheritedFormat) {
	c.group(node, "an attr", valueSettings...)
	var sources int
	within := c.inherit(t, node, v, written)
	// Settings come in any order, so others are looked up.
	trim, _ := c.text(node, "trim")
	for _, member := range node.Members {
		switch member.Name {
		case "column":
			if v.column = c.column(t, member.Line, member.Node.Text); v.column >= 0 {
				v.text = columnText(v.column, trim != "no" && trim != "false")
			}
		case "constant":
			c.constant(member.Node.Text, v)
		case "join":
			between, _ := c.text(node, "with")
			if node.Find("with") == nil {
				between = " "
			}
			parts := c.parts(t, member.Node, v, nil, written)
			c.refuseFormats(member.Node, parts)
			v.text = joinedText(parts, between)
		case "first":
			within.alternative = true
			parts := c.parts(t, member.Node, v, v.typ, within)
			v.unmet(parts)
			if v.text = firstText(parts); v.typ == nil {
				c.refuseFormats(member.Node, parts)
			} else if slices.ContainsFunc(parts, func(one *expression) bool { return one.formatted || one.computed }) || c.filling == nil && !hasAny(node, changingSettings) {
				v.choices = parts
			}
		case "sum", "product":
			// Every part of a sum is in minor units, so one with a decimal mark is
			// refused. A product has them once, whatever its parts are.
			if member.Name == "product" {
				within.conditional = within.conditional || within.numbers.minor > 0 // which part has them is not said
				within.numbers.minor = 0
			} else {
				c.oneCurrency(member.Line, within.numbers.currencies)
			}
			parts := c.parts(t, member.Node, v, &rules.Type{Shape: rules.ShapeDecimal}, within)
			v.text, v.computed = arithmeticText(parts, member.Name == "product"), true
			if member.Name == "sum" {
				v.unmet(parts)
			}
		default:
			continue
		}
		sources++
	}
	if sources != 1 {
		c.errorf(node.Line, "an attr has exactly one of column, constant, join, first, sum and product")
		return
	}
	// The steps are applied in a fixed order: values are translated after cutting and changing
	// case, and the condition comes last.
	for _, member := range node.Members {
		if v.formatted = v.formatted || slices.Contains(formatSettings, member.Name); v.choices != nil && slices.Contains(changingSettings, member.Name) {
			c.errorf(member.Line, "set %s for each part of first, because a part has settings of its own", member.Name)
		}
	}
	c.transforms(t, node, v)
	c.formats(t, node, v)
	c.formattedText(node, v)
	c.checkPoints(node, v)
	if v.conditional != nil && !written.alternative {
		v.text = coveredText(v, map[bool]string{true: "sum", false: "first"}[v.computed])
	}
	if when := node.Find("when"); when != nil {
		v.when, v.whole = c.tests(t, when), v.text
		if v.fixed { // its condition takes the place of the column
			v.whole = nil
		}
		v.text = conditionalText(v.text, v.when)
		// With a condition, a constant differs between rows.
		v.fixed = false
	}
}

// constant compiles a constant. The map writes numbers and dates as JSON does, however the tables
// write them.
func (c *mapCompiler) constant(text string, v *expression) {
	v.fixed, v.text = true, constantText(text)
	v.formatted = v.typ != nil && (holdsNumbers(v.typ) && strings.ContainsAny(text, ".,") || holdsDates(v.typ))
	v.numbers, v.keepMixed = numberFormat{decimal: '.', minor: v.numbers.minor}, true
	v.days = append(slices.Clip(v.days), isoDay)
}

// refuseFormats refuses settings that change how a value is written where only texts are joined or
// compared: they would have no effect.
func (c *mapCompiler) refuseFormats(node *yamltree.Node, parts []*expression) {
	for i, one := range parts {
		if one.formatted {
			c.errorf(node.Items[i].Line, "settings of numbers and dates have no effect here, where texts are used as they are")
		}
	}
}

// parts compiles a list of columns and constants.
func (c *mapCompiler) parts(t *sourceTable, node *yamltree.Node, v *expression, typ *rules.Type, written inheritedFormat) (parts []*expression) {
	if node.Kind != yamltree.List || len(node.Items) == 0 {
		c.errorf(node.Line, "this must be a list of columns or =constants")
		return nil
	}
	v.fixed = true
	for _, item := range node.Items {
		part := c.part(t, item, typ, written)
		// Problems name one column, the first of several.
		if v.column < 0 {
			v.column = part.column
		}
		v.fixed = v.fixed && part.fixed
		parts = append(parts, part)
	}
	return parts
}

// transforms adds the steps that change the text, in order.
func (c *mapCompiler) transforms(t *sourceTable, node *yamltree.Node, v *expression) {
	keep, instead := false, (*string)(nil)
	if otherwise := node.Find("otherwise"); otherwise != nil {
		text, _ := c.text(node, "otherwise")
		if text == "keep" {
			keep = true
		} else {
			instead = &text
		}
	}
	if pattern := c.regexp(node, "extract"); pattern != nil {
		v.text = extractedText(v.text, v.column, pattern, instead, keep)
	}
	if pattern := c.regexp(node, "remove"); pattern != nil {
		v.text = removedText(v.text, pattern)
	}
	if leading, _ := c.text(node, "strip"); leading != "" {
		v.text = strippedText(v.text, leading)
	}
	if part, line := c.text(node, "part"); part != "" {
		number, err := strconv.Atoi(part)
		at, _ := c.text(node, "split")
		if err != nil || number == 0 || at == "" {
			c.errorf(line, "part must be a number such as 1 (the first) or -1 (the last), and needs split")
			return
		}
		v.text = partText(v.text, at, number)
	}
	if c.flag(node, "upper") {
		v.text = casedText(v.text, bytes.ToUpper)
	}
	if c.flag(node, "lower") {
		v.text = casedText(v.text, bytes.ToLower)
	}
	if given := node.Find("values"); given != nil {
		table := c.values(given)
		c.checkChoices(given, v.typ, table)
		for _, member := range given.Members {
			c.notEmptyWord(t, member.Line, member.Name)
		}
		v.letters = map[byte][]byte{}
		// Only visible ASCII characters: blanks are trimmed, and other bytes depend on the charset.
		for from, to := range table {
			if len(from) == 1 && from[0] > ' ' && from[0] < 128 {
				v.letters[from[0]] = []byte(to)
			}
		}
		v.text = translatedText(v.text, v.column, table, instead, keep)
		// Values that are kept as they are must be checked in every row.
		v.allowed = !keep && v.allChoices(table, instead)
	}
	if instead := node.Find("default"); instead != nil {
		text, _ := c.text(node, "default")
		v.text = defaultText(v.text, text)
		v.allowed = v.allowed && v.allChoices(nil, &text)
	}
}

// formats adds how numbers and dates of this attr are written.
func (c *mapCompiler) formats(t *sourceTable, node *yamltree.Node, v *expression) {
	v.numbers = c.figure(node, v.numbers)
	v.keepMixed = c.mixed(node, v.keepMixed)
	if digits, line := c.text(node, "round"); digits != "" {
		number, err := strconv.Atoi(digits)
		if err != nil || number < 0 || number > 10 {
			c.errorf(line, "round must be the number of decimals to round to, such as 2")
		} else {
			v.rounded = number
		}
	}
	if days, line := c.text(node, "days"); days != "" {
		number, err := strconv.Atoi(days)
		if err != nil || number < -maxShift || number > maxShift {
			c.errorf(line, "days must be the number of days to add, such as +1 or -1")
		} else {
			v.shift = number
		}
	}
	v.numbers.minor = c.minorUnits(node, v.numbers.minor)
	if v.computed {
		// The parts were read as they are written; their result is written as JSON.
		if node.Find("product") != nil {
			v.text = scaledText(v.text, v.numbers.minor)
		}
		v.numbers, v.keepMixed = numberFormat{decimal: '.'}, true
	}
	switch sign, line := c.text(node, "sign"); sign {
	case "", "same":
	case "reversed":
		v.numbers.reversed = true
	default:
		c.errorf(line, "sign must be same or reversed")
	}
	c.signConditions(t, node, v)
	if hasAny(node, daySettings) {
		v.days = c.century(node, t.dialect.century).apply(c.patterns(node, "dates", v.days))
	}
	if t.layout.workbook {
		v.days = withCellDates(v.days)
		if node.Find("decimal") != nil {
			c.errorf(node.Line, "decimal of a workbook is set for the whole table, because numbers of cells are written with it")
		}
	}
	if node.Find("zone") != nil {
		// dialect already reads and checks zones.
		v.times.zone = c.dialect(&yamltree.Node{Kind: yamltree.Mapping, Line: node.Line, Members: []yamltree.Member{{Name: "zone", Node: node.Find("zone")}}}, t.dialect).times.zone
	}
}

// checkPoints refuses numbers such as 1.234 among the translations and defaults of a column in which
// the point does not separate decimals.
func (c *mapCompiler) checkPoints(node *yamltree.Node, v *expression) {
	if v.typ == nil || !holdsNumbers(v.typ) || v.numbers.decimal == '.' {
		return
	}
	for _, name := range []string{"values", "otherwise", "default"} {
		given := node.Find(name)
		if given == nil {
			continue
		}
		for _, one := range append([]yamltree.Member{{Node: given}}, given.Members...) {
			if strings.Contains(one.Node.Text, ".") {
				c.errorf(given.Line, "%s can be read in two ways, because decimal is '%c': write it as the table does, or as the last part of first: {first: [COLUMN, =%s]}",
					one.Node.Text, v.numbers.decimal, one.Node.Text)
			}
		}
	}
}

// formattedText lets a text be written as a number or a date if the map says how to read one. A
// setting that changed nothing would go unnoticed.
func (c *mapCompiler) formattedText(node *yamltree.Node, v *expression) {
	if v.typ == nil || v.typ.Choices != nil || v.typ.Shape != rules.ShapeText && v.typ.Shape != rules.ShapeAny {
		return
	}
	number := v.computed || hasAny(node, figureSettings) || hasAny(node, []string{"round", "sign", "negative_when"})
	date := hasAny(node, daySettings) || hasAny(node, []string{"days", "zone"})
	typ := *v.typ
	switch {
	case number && date:
		c.errorf(node.Line, "this has settings of a number and of a date; a text can be written as one of them")
	case number:
		typ.Shape = rules.ShapeDecimal
	case date:
		typ.Shape = rules.ShapeDate
	}
	v.typ = &typ
}

// tests compiles a condition: columns and their values, all of which must match.
func (c *mapCompiler) tests(t *sourceTable, node *yamltree.Node) (list []test) {
	if node.Kind != yamltree.Mapping || len(node.Members) == 0 {
		c.errorf(node.Line, "a condition names columns and what they must be, such as {STATE: [A, B]}")
		return nil
	}
	for _, member := range node.Members {
		one := test{column: c.column(t, member.Line, member.Name)}
		switch member.Node.Kind {
		case yamltree.Null:
			one.empty = 1
		case yamltree.Mapping:
			c.group(member.Node, "a condition", testSettings...)
			one.matches = c.regexp(member.Node, "matches")
			one.bounds = c.bounds(t, member.Node, one.column)
			one.is, one.not = c.texts(member.Node.Find("is"), "is"), c.texts(member.Node.Find("not"), "not")
			if member.Node.Find("empty") != nil {
				one.empty = -1
				if c.flag(member.Node, "empty") {
					one.empty = 1
				}
			}
		default:
			one.is = c.texts(member.Node, "a condition")
		}
		for _, word := range slices.Concat(one.is, one.not) {
			c.notEmptyWord(t, member.Line, word)
		}
		// A missing column was already reported.
		if one.column >= 0 {
			list = append(list, one)
		}
	}
	return list
}

// notEmptyWord refuses to compare with a word that means an empty value: no value is equal to it.
func (c *mapCompiler) notEmptyWord(t *sourceTable, line int, word string) {
	if slices.Contains(t.dialect.empty, word) {
		c.errorf(line, "%s means an empty value in %s, so nothing is equal to it; compare with \"\" instead, or remove it from empty", word, t.name)
	}
}

// maxShift is the most days that can be added to a date: a hundred years.
const maxShift = 36_525

// testSettings are the settings of a condition on a column.
var testSettings = slices.Concat([]string{"is", "not", "empty", "matches", "above", "at_least", "below", "at_most", "mixed_formats"}, figureSettings, daySettings)

// namedPatterns are regular expressions that are hard to get right.
var namedPatterns = map[string]string{
	"gb-postcode": `\b(?i:[A-Z]{1,2}[0-9][A-Z0-9]? *[0-9][A-Z]{2}|GIR *0AA)\b`,
}

// regexp reads a regular expression, or the name of one.
func (c *mapCompiler) regexp(node *yamltree.Node, name string) *regexp.Regexp {
	text, line := c.text(node, name)
	if text == "" {
		return nil
	}
	if named, known := namedPatterns[text]; known {
		text = named
	}
	pattern, err := regexp.Compile(text)
	if err != nil {
		c.errorf(line, "%s is not a regular expression: %s", name, err)
		return nil
	}
	return pattern
}

// bounds compiles the comparisons of a condition, with dates or with numbers.
func (c *mapCompiler) bounds(t *sourceTable, node *yamltree.Node, column int) (list []bound) {
	for _, name := range []string{"above", "at_least", "below", "at_most"} {
		text, line := c.text(node, name)
		if text == "" {
			continue
		}
		one := bound{name: name, of: &expression{
			column: column, times: t.dialect.times, rounded: -1, keepMixed: c.mixed(node, t.dialect.keepMixed),
			numbers: c.figure(node, t.dialect.numbers), days: c.century(node, t.dialect.century).apply(c.patterns(node, "dates", slices.Concat(t.dialect.days, t.dialect.instants))),
		}}
		one.of.numbers.minor = c.minorUnits(node, 0)
		typ := &rules.Type{Shape: rules.ShapeDecimal}
		if at, is := isoDay.read([]byte(text)); is {
			one.day = at
			typ = &rules.Type{Shape: rules.ShapeDate}
		} else if number, is := parseExact([]byte(text)); is {
			one.number = number
		} else {
			c.errorf(line, "%s must be a number such as 12.50, or a date such as 2026-12-31", name)
			continue
		}
		one.of.typ = typ
		if column >= 0 && !hasAny(node, figureSettings) && !hasAny(node, daySettings) {
			c.compared = append(c.compared, columnUse{table: t, line: line, of: one.of})
		}
		list = append(list, one)
	}
	return list
}

// minorUnits reads minor_units.
func (c *mapCompiler) minorUnits(node *yamltree.Node, otherwise int) int {
	digits, line := c.text(node, "minor_units")
	if digits == "" {
		return otherwise
	}
	number, err := strconv.Atoi(digits)
	if err != nil || number < 0 || number > 10 {
		c.errorf(line, "minor_units must be the number of decimal digits: 2 for cents")
		return otherwise
	}
	return number
}

// cutPart returns the text before a separator and the rest.
func cutPart(text []byte, at string) (piece, rest []byte) {
	if at == "" {
		return text, nil
	}
	piece, rest, _ = bytes.Cut(text, []byte(at))
	return trimBlanks(piece), rest
}
