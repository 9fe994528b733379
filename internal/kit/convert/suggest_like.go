package convert

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"landfall/internal/lib/yamltree"
)

// learnedAttrs is what another map or finished accounts tell about the attrs of tables.
type learnedAttrs struct {
	kinds  []*tableKind
	attrs  map[string][]learnedAttr // by kind and attr
	tables []*learnedTable
	head   []string // lines of the other map that its tables need
	values *yamltree.Node
	source *yamltree.Node // how the tables of the other map are written; nil without another map
	code   string         // of the supplier of the other map
}

// learnedAttr is a way to fill an attr.
type learnedAttr struct {
	table   *learnedTable  // of the other map; nil from an example
	file    string         // only in this file, or ""
	columns []string       // plain names; the first one decides
	node    *yamltree.Node // as the other map wrote it
	text    string         // as it is written in this map
}

// learnedTable is a table of the other map.
type learnedTable struct {
	name    string
	kind    *tableKind
	files   []string
	columns []string
	lines   []string // without the indentation of the map
	node    *yamltree.Node
}

// maxMapBytes is more than a map written by hand has.
const maxMapBytes = 16 << 20

// readMap learns from another map.
func (l *learnedAttrs) readMap(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Size() > maxMapBytes {
		return fmt.Errorf("%s is larger than a map can be", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	root, err := yamltree.Read(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	tables := root.Find("tables")
	if tables == nil || tables.Kind != yamltree.Mapping {
		return fmt.Errorf("%s is not a map: it has no tables", path)
	}
	lines := strings.Split(string(text), "\n")
	l.values, l.source = root.Find("values"), root.Find("source")
	if l.source == nil {
		l.source = &yamltree.Node{Kind: yamltree.Mapping}
	}
	if code := root.Find("supplier"); code != nil && code.Kind == yamltree.Scalar && code.Text != chooseMark {
		l.code = code.Text
	}
	l.attrs = map[string][]learnedAttr{}
	for i, member := range root.Members {
		if member.Name == "values" || member.Name == "packs" {
			l.head = append(l.head, trimBlock(lines[member.Line-1:nextLine(root.Members, i, len(lines))])...)
		}
	}
	end := len(lines)
	for i, member := range root.Members {
		if member.Name == "tables" {
			end = nextLine(root.Members, i, len(lines))
		}
	}
	for i, member := range tables.Members {
		table := &learnedTable{name: member.Name, node: member.Node, lines: trimBlock(lines[member.Line-1 : nextLine(tables.Members, i, end)])}
		if file := member.Node.Find("file"); file != nil {
			table.files = append(scalars(file), file.Text)
		}
		l.tables = append(l.tables, table)
	}
	for i, member := range tables.Members {
		l.readTable(l.tables[i], member.Node, tables)
	}
	return nil
}

// nextLine returns the index of the line where the next member starts.
func nextLine(members []yamltree.Member, i, end int) int {
	if i+1 < len(members) {
		return members[i+1].Line - 1
	}
	return end
}

// trimBlock removes the common indentation, and comments and empty lines at the end, which belong to
// what follows.
func trimBlock(lines []string) (list []string) {
	indent := len(lines[0]) - len(strings.TrimLeft(lines[0], " "))
	for _, line := range lines {
		list = append(list, line[min(indent, len(line)-len(strings.TrimLeft(line, " "))):])
	}
	for len(list) > 1 {
		last := strings.TrimSpace(list[len(list)-1])
		if last != "" && last[0] != '#' {
			break
		}
		list = list[:len(list)-1]
	}
	return list
}

// readTable learns the attrs of one table.
func (l *learnedAttrs) readTable(table *learnedTable, node, tables *yamltree.Node) {
	table.columns = append(table.columns, columnsIn(node.Find("account"))...)
	table.columns = append(table.columns, linkColumns(node.Find("link"))...)
	table.columns = append(table.columns, conditionColumns(node.Find("when"))...)
	table.columns = append(table.columns, choiceColumns(node.Find("several"))...)
	places := []*yamltree.Node{node}
	if into := node.Find("into"); into != nil && into.Kind == yamltree.List {
		places = into.Items
	}
	for _, target := range places {
		at := target.Find("place")
		if at == nil {
			at = target.Find("into")
		}
		kind := l.kindAt(at, tables, 0)
		if table.kind == nil {
			table.kind = kind
		}
		if target != node {
			table.columns = append(table.columns, columnsIn(target.Find("account"))...)
			table.columns = append(table.columns, linkColumns(target.Find("link"))...)
			table.columns = append(table.columns, conditionColumns(target.Find("when"))...)
			table.columns = append(table.columns, choiceColumns(target.Find("several"))...)
		}
		fill := target.Find("fill")
		if fill == nil {
			fill = node.Find("fill")
		}
		if fill != nil {
			l.readFill(table, kind, fill)
		}
	}
}

// kindAt returns the kind of a place, or nil.
func (l *learnedAttrs) kindAt(target, tables *yamltree.Node, depth int) *tableKind {
	if target == nil || target.Kind != yamltree.Scalar || depth > len(tables.Members) {
		return nil
	}
	for _, kind := range l.kinds {
		if kind.stem != "" && kind.stem == target.Text {
			return kind
		}
	}
	name, path, _ := strings.Cut(target.Text, ".")
	outer := tables.Find(name)
	if outer == nil {
		return nil
	}
	into := outer.Find("into")
	if into != nil && into.Kind == yamltree.List && len(into.Items) > 0 {
		into = into.Items[0].Find("place")
	}
	kind := l.kindAt(into, tables, depth+1)
	for attr := range strings.SplitSeq(path, ".") {
		if kind == nil || attr == "" || isNumber(attr) {
			continue
		}
		kind = l.inner(kind, attr)
	}
	return kind
}

// inner returns the kind of an attr.
func (l *learnedAttrs) inner(outer *tableKind, attr string) *tableKind {
	for _, kind := range l.kinds {
		if kind.parent == outer && kind.attr == attr || outer.name == "accounts" && kind.within != "" && strings.HasSuffix(attr, strings.TrimPrefix(kind.within, "current_")) {
			return kind
		}
	}
	return nil
}

// readFill learns attrs from a fill.
func (l *learnedAttrs) readFill(table *learnedTable, kind *tableKind, fill *yamltree.Node) {
	if fill.Kind == yamltree.List {
		for _, item := range fill.Items {
			l.readFill(table, kind, item)
		}
		return
	}
	for _, member := range fill.Members {
		var inner *tableKind
		if kind != nil {
			inner = l.inner(kind, member.Name)
		}
		if inner != nil && member.Node.Kind != yamltree.Scalar && member.Node.Find("rows") == nil {
			l.readFill(table, inner, member.Node)
			continue
		}
		columns := columnsIn(member.Node)
		table.columns = append(table.columns, columns...)
		if kind == nil || inner != nil {
			continue
		}
		one := learnedAttr{table: table, node: member.Node}
		for _, column := range columns {
			one.columns = append(one.columns, plainName(column))
		}
		id := kind.name + "." + member.Name
		l.attrs[id] = append(l.attrs[id], one)
	}
}

// columnsIn lists the columns that an attr is filled from.
func columnsIn(node *yamltree.Node) (list []string) {
	if node == nil {
		return nil
	}
	switch node.Kind {
	case yamltree.Scalar:
		if !strings.HasPrefix(node.Text, "=") {
			list = append(list, node.Text)
		}
	case yamltree.List:
		for _, item := range node.Items {
			list = append(list, columnsIn(item)...)
		}
	case yamltree.Mapping:
		for _, member := range node.Members {
			switch member.Name {
			case "column", "join", "first":
				list = append(list, columnsIn(member.Node)...)
			case "when", "negative_when", "positive_when":
				list = append(list, conditionColumns(member.Node)...)
			default:
				// An object inside the row.
				if member.Node.Kind != yamltree.Scalar && member.Name != "values" && node.Find("column") == nil {
					list = append(list, columnsIn(member.Node)...)
				}
			}
		}
	}
	return list
}

// conditionColumns lists the columns of a condition.
func conditionColumns(node *yamltree.Node) (list []string) {
	if node == nil {
		return nil
	}
	for _, member := range node.Members {
		list = append(list, member.Name)
	}
	return list
}

// choiceColumns lists the columns that decide between several rows.
func choiceColumns(node *yamltree.Node) (list []string) {
	if node == nil {
		return nil
	}
	for _, member := range node.Members {
		list = append(list, columnsIn(member.Node)...)
	}
	return list
}

// linkColumns lists the own columns of a link.
func linkColumns(node *yamltree.Node) []string {
	if node != nil && node.Kind == yamltree.Mapping {
		return conditionColumns(node)
	}
	return columnsIn(node)
}

// scalars lists the texts of a list.
func scalars(node *yamltree.Node) (list []string) {
	for _, item := range node.Items {
		list = append(list, item.Text)
	}
	return list
}

// find returns how a column fills an attr, if that was learned.
func (l *learnedAttrs) find(t *suggestedTable, s *attrSlot, column int) (text string, columns []string, found bool) {
	for _, one := range l.attrs[s.kind.name+"."+s.field.Name] {
		name := plainName(t.columns[column])
		if len(one.columns) == 0 || one.columns[0] != name || one.file != "" && one.file != t.file {
			continue
		}
		if slices.ContainsFunc(one.columns, func(column string) bool { return t.columnNamed(column) == "" }) {
			continue
		}
		if one.node == nil {
			return one.text, one.columns, true
		}
		return l.render(t, one.node, ""), one.columns, true
	}
	return "", nil, false
}

// columnNamed returns the column with a plain name, or "".
func (t *suggestedTable) columnNamed(plain string) string {
	for _, column := range t.columns {
		if plainName(column) == plain {
			return column
		}
	}
	return ""
}

// render writes a part of the other map on one line, with the columns of this table.
func (l *learnedAttrs) render(t *suggestedTable, node *yamltree.Node, in string) string {
	switch node.Kind {
	case yamltree.Scalar:
		if in == "" || in == "column" || in == "join" || in == "first" || slices.Contains(columnChoices, in) {
			if column := t.columnNamed(plainName(node.Text)); column != "" && !strings.HasPrefix(node.Text, "=") {
				return quoted(column)
			}
		}
		if in == "values" && l.values != nil && l.values.Find(node.Text) != nil {
			return l.render(t, l.values.Find(node.Text), "text")
		}
		if isNumber(node.Text) && !node.Quoted && in != "text" {
			return node.Text
		}
		return quoted(node.Text)
	case yamltree.List:
		var items []string
		for _, item := range node.Items {
			items = append(items, l.render(t, item, in))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case yamltree.Mapping:
		var members []string
		for _, member := range node.Members {
			name, inner := member.Name, member.Name
			switch in {
			case "when", "negative_when", "positive_when":
				name, inner = t.columnNamed(plainName(member.Name)), "text"
			case "values", "text":
				inner = "text"
			}
			text := l.render(t, member.Node, inner)
			if member.Node.Kind == yamltree.Null {
				text = "null" // a condition that the column is empty
			}
			members = append(members, quoted(name)+": "+text)
		}
		return "{" + strings.Join(members, ", ") + "}"
	}
	return `""`
}

// kindOf takes over the tables that the other map makes of a file, and returns the kind of the first one
// whose kind is known. A table of which a column is missing is not taken over; if its kind is known, the rest
// of it is used.
func (l *learnedAttrs) kindOf(t *suggestedTable) *tableKind {
	var kind *tableKind
	t.copied, t.copies, t.other, t.lost = false, nil, nil, nil
	for _, table := range l.tables {
		if !slices.ContainsFunc(table.files, func(file string) bool {
			matched, err := filepath.Match(strings.ToLower(file), strings.ToLower(t.file))
			return err == nil && matched
		}) {
			continue
		}
		missing := t.without(table.columns)
		switch {
		case missing == "":
			t.copies = append(t.copies, table.linesFor(t.file))
		case kind != nil || table.kind == nil:
			t.lost = append(t.lost, lostTable{table.name, missing})
		}
		if kind == nil && (table.kind != nil || missing == "" && t.other == nil) {
			kind, t.name, t.copied, t.other = table.kind, table.name, missing == "", table.node
		}
	}
	return kind
}

// without returns the first of some columns that a table does not have, or "".
func (t *suggestedTable) without(columns []string) string {
	for _, column := range columns {
		if !slices.Contains(t.columns, column) {
			return column
		}
	}
	return ""
}

// linesFor returns the lines of a table with the name of another file.
func (table *learnedTable) linesFor(file string) (lines []string) {
	for _, line := range table.lines {
		for _, old := range table.files {
			if strings.Contains(line, "file:") && !strings.ContainsAny(old, "*?[") {
				line = strings.Replace(line, old, file, 1)
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// constant returns the constant that the other map has for an attr, or "".
func (l *learnedAttrs) constant(_ *suggestedTable, kind *tableKind, attr string) string {
	for _, one := range l.attrs[kind.name+"."+attr] {
		if one.node != nil && one.node.Kind == yamltree.Scalar && len(one.columns) == 0 {
			return quoted(one.node.Text)
		}
	}
	return ""
}
