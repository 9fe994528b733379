package convert

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"landfall/internal/api/rules"
)

const (
	maxExamples     = 1_000   // accounts
	maxExampleBytes = 4 << 20 // of one account
	maxExampleRows  = 50_000  // of one table
)

// exampleAccount is a finished account: its number and the values of its attrs.
type exampleAccount struct {
	number string
	values map[string][]string // by kind and attr
}

// exampleRow is a row of a table that belongs to an example.
type exampleRow struct {
	account int
	cells   []string
}

// readExamples learns from finished accounts, one JSON object per line as in accounts.ndjson: the
// column that has the value of an attr in every example fills it.
func (l *learnedAttrs) readExamples(ctx context.Context, path string, g *guesser, folder string) error {
	examples, err := l.readAccounts(path)
	if err != nil {
		return err
	}
	rows, err := g.exampleRows(ctx, examples, folder)
	if err != nil {
		return err
	}
	if len(rows) == 0 {
		return fmt.Errorf("%s: no table has rows with the account numbers of these accounts", path)
	}
	if l.attrs == nil {
		l.attrs = map[string][]learnedAttr{}
	}
	for _, kind := range l.kinds {
		for _, field := range kind.object.Fields {
			if field.Type.Shape < rules.ShapeObject && field.Name != "import_supplier" && field.Name != "external_account_number" {
				l.learnAttr(g, examples, rows, kind, field)
			}
		}
	}
	return nil
}

// readAccounts reads the examples.
func (l *learnedAttrs) readAccounts(path string) (list []*exampleAccount, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxExampleBytes)
	for number := 1; lines.Scan(); number++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		if len(list) == maxExamples {
			return nil, fmt.Errorf("%s has more than %d accounts; a few are enough", path, maxExamples)
		}
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.UseNumber() // digits are compared as they are
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return nil, fmt.Errorf("%s:%d: not a JSON object on one line: %w", path, number, err)
		}
		if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("%s:%d: want one account on the line", path, number)
		}
		one := &exampleAccount{values: map[string][]string{}}
		if one.number, _ = object["external_account_number"].(string); one.number == "" {
			return nil, fmt.Errorf("%s:%d: external_account_number is required, to find the rows of the account", path, number)
		}
		l.collect(one, l.kinds[0], object)
		list = append(list, one)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s has no accounts", path)
	}
	return list, nil
}

// collect adds the values of an object and of the objects inside it.
func (l *learnedAttrs) collect(one *exampleAccount, kind *tableKind, object map[string]any) {
	for name, value := range object {
		inner := l.inner(kind, name)
		switch typed := value.(type) {
		case string:
			one.add(kind, name, typed)
		case json.Number:
			one.add(kind, name, typed.String())
		case bool:
			one.add(kind, name, strconv.FormatBool(typed))
		case map[string]any:
			if inner != nil {
				l.collect(one, inner, typed)
			}
		case []any:
			for _, item := range typed {
				if part, is := item.(map[string]any); is && inner != nil {
					l.collect(one, inner, part)
				}
			}
		}
	}
}

func (one *exampleAccount) add(kind *tableKind, attr, value string) {
	if value != "" {
		one.values[kind.name+"."+attr] = append(one.values[kind.name+"."+attr], value)
	}
}

// exampleRows finds the rows that belong to the examples: first those with their account numbers,
// then those that refer to a row that was found.
func (g *guesser) exampleRows(ctx context.Context, examples []*exampleAccount, folder string) (map[*suggestedTable][]exampleRow, error) {
	found := map[*suggestedTable][]exampleRow{}
	numbers := map[string]int{}
	for i, one := range examples {
		numbers[one.number] = i
	}
	collect := func(t *suggestedTable, column int, wanted map[string]int) error {
		return t.eachRow(ctx, filepath.Join(folder, t.file), suggestBytes, func(_ int, fields [][]byte) {
			if len(fields) != len(t.columns) {
				return
			}
			account, known := wanted[t.cell(fields[column])]
			if !known || len(found[t]) == maxExampleRows {
				return
			}
			row := exampleRow{account: account}
			for _, field := range fields {
				row.cells = append(row.cells, t.cell(field))
			}
			found[t] = append(found[t], row)
		})
	}
	for _, t := range g.tables {
		hits := make([]int, len(t.columns))
		err := t.eachRow(ctx, filepath.Join(folder, t.file), suggestBytes, func(_ int, fields [][]byte) {
			for i, field := range fields {
				if _, known := numbers[t.cell(field)]; known && i < len(hits) {
					hits[i]++
				}
			}
		})
		if err != nil {
			return nil, err
		}
		if column := slices.Index(hits, slices.Max(hits)); hits[column] > 0 {
			t.numbered = column
			if err := collect(t, column, numbers); err != nil {
				return nil, err
			}
		}
	}
	for again := true; again; {
		again = false
		for _, t := range g.tables {
			if len(found[t]) > 0 {
				continue
			}
			var best *tableLink
			var parent *suggestedTable
			for _, other := range g.tables {
				if len(found[other]) == 0 {
					continue
				}
				if link := t.findLink(other, t.separates(other)); link != nil && (best == nil || link.score > best.score) {
					best, parent = link, other
				}
			}
			if best == nil {
				continue
			}
			wanted := map[string]int{}
			for _, row := range found[parent] {
				wanted[row.cells[best.theirs]] = row.account
			}
			if err := collect(t, best.own, wanted); err != nil {
				return nil, err
			}
			again = again || len(found[t]) > 0
		}
	}
	return found, nil
}

// cell returns a value as text, without the words that mean an empty one.
func (s *inspection) cell(field []byte) string {
	decoded, _ := s.charset.decode(nil, trimBlanks(field))
	if text := strings.TrimSpace(string(decoded)); !isNullWord(text) {
		return text
	}
	return ""
}

// learnAttr finds the columns that have the values of an attr.
func (l *learnedAttrs) learnAttr(g *guesser, examples []*exampleAccount, rows map[*suggestedTable][]exampleRow, kind *tableKind, field rules.Field) {
	id := kind.name + "." + field.Name
	for _, t := range g.tables {
		for column := range t.columns {
			if text := t.explain(examples, rows[t], column, id, field); text != "" {
				l.attrs[id] = append([]learnedAttr{{file: t.file, columns: []string{plainName(t.columns[column])}, text: text}}, l.attrs[id]...)
			}
		}
	}
}

// explain returns how a column gives the values of an attr in all examples, or "".
func (t *suggestedTable) explain(examples []*exampleAccount, rows []exampleRow, column int, id string, field rules.Field) string {
	if len(rows) == 0 {
		return ""
	}
	given := make([][]string, len(examples))
	for _, row := range rows {
		if row.cells[column] != "" {
			given[row.account] = append(given[row.account], row.cells[column])
		}
	}
	for _, way := range t.ways(column, field) {
		count := 0
		different := map[string]bool{}
		holds := true
		for i, one := range examples {
			want := one.values[id]
			if len(want) == 0 {
				continue
			}
			for _, value := range want {
				if !slices.ContainsFunc(given[i], func(cell string) bool { return way.equal(cell, value) }) {
					holds = false
				}
				different[value] = true
			}
			count++
		}
		delete(different, "0.00") // zero is equal in every unit and with every sign
		delete(different, "0")
		// A value that all examples share may be in any column.
		if holds && count > 0 && len(different) > 0 && (len(different) > 1 || count == 1) {
			return way.text
		}
	}
	return t.explainCodes(examples, given, column, id, field)
}

// exampleWay is a way to read a column.
type exampleWay struct {
	text  string
	equal func(cell, value string) bool
}

// ways lists how a column could be read for an attr, the simplest first.
func (t *suggestedTable) ways(column int, field rules.Field) (list []exampleWay) {
	name := quoted(t.columns[column])
	switch field.Type.Shape {
	case rules.ShapeAmount, rules.ShapeDecimal, rules.ShapeInteger:
		mark := byte('.')
		if t.styles[column].comma {
			mark = ','
		}
		for _, minor := range []int{0, 2} {
			for _, reversed := range []bool{false, true} {
				format := numberFormat{decimal: mark, minor: minor, reversed: reversed}
				if mark == ',' {
					format.grouping = '.'
				}
				plain := numberFormat{decimal: '.'}
				var settings []string
				if minor > 0 {
					settings = append(settings, "minor_units: 2")
				}
				if reversed {
					settings = append(settings, "sign: reversed")
				}
				text := name
				if len(settings) > 0 {
					text = "{column: " + name + ", " + strings.Join(settings, ", ") + "}"
				}
				list = append(list, exampleWay{text, func(cell, value string) bool {
					a, b := format.read(nil, []byte(cell), false), plain.read(nil, []byte(value), false)
					return a != nil && b != nil && sameNumber(string(a), string(b))
				}})
			}
		}
	case rules.ShapeDate, rules.ShapeDatetime:
		style := t.styles[column]
		formats := []string{cmp.Or(style.days, style.instants)}
		if formats[0] == "" && style.compact {
			formats = compactPatterns
		}
		for _, days := range formats {
			pattern, err := newPattern(days)
			if days == "" || err != nil {
				return nil
			}
			text := name
			if t.days != days && t.instants != days {
				text = "{column: " + name + ", dates: " + days + "}"
			}
			if style.compact && pattern.shortYear() {
				text = "{column: " + name + ", dates: " + days + ", century: 50}"
			}
			list = append(list, exampleWay{text, func(cell, value string) bool {
				at, ok := pattern.read([]byte(cell))
				return ok && strings.HasPrefix(value, string(at.appendDay(nil)))
			}})
		}
	default:
		list = append(list, exampleWay{name, func(cell, value string) bool { return cell == value }})
	}
	return list
}

// sameNumber compares two numbers without the zeros at their ends.
func sameNumber(a, b string) bool {
	short := func(text string) string {
		if strings.Contains(text, ".") {
			text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
		}
		if text == "-0" {
			return "0"
		}
		return text
	}
	return short(a) == short(b)
}

// explainCodes returns a translation of the codes of a column if each code always means the same and
// at least two codes differ.
func (t *suggestedTable) explainCodes(examples []*exampleAccount, given [][]string, column int, id string, field rules.Field) string {
	if shape := field.Type.Shape; shape != rules.ShapeText && shape != rules.ShapeBoolean || t.styles[column].codes == nil {
		return ""
	}
	means, back := map[string]string{}, map[string]string{}
	for i, one := range examples {
		want := one.values[id]
		if len(want) == 0 && len(given[i]) == 0 {
			continue
		}
		if len(want) != 1 || len(given[i]) == 0 || slices.ContainsFunc(given[i], func(cell string) bool { return cell != given[i][0] }) {
			return ""
		}
		code := given[i][0]
		if to, known := means[code]; known && to != want[0] || !known && back[want[0]] != "" {
			return ""
		}
		means[code], back[want[0]] = want[0], code
	}
	if len(means) < 2 {
		return ""
	}
	var pairs []string
	for _, code := range t.styles[column].codes {
		to, known := means[code]
		if !known {
			to = chooseMark
		}
		pairs = append(pairs, quoted(code)+": "+quoted(to))
	}
	return "{column: " + quoted(t.columns[column]) + ", values: {" + strings.Join(pairs, ", ") + "}}"
}
