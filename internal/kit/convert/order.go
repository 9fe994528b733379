package convert

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// inOrder takes the tables into the plan so that those whose rows go into others
// come first. It says where rows would go round in circles, and is false then.
func (c *mapCompiler) inOrder(p *plan) bool {
	before := len(c.wrong)
	state := map[*sourceTable]int{}
	var visit func(t *sourceTable, way []string)
	visit = func(t *sourceTable, way []string) {
		// Clipped, so that two branches of the visit do not write into the same
		// way.
		way = append(slices.Clip(way), t.name)
		switch state[t] {
		case 1:
			c.errorf(t.line, "the tables go round in circles: %s", strings.Join(way, " → "))
			return
		case 2:
			return
		}
		state[t] = 1
		for _, g := range t.groups {
			for _, p := range g.places {
				visit(p.table, way)
				// The inner table was visited first and knows all that is below it,
				// so one level is enough here.
				for _, inside := range append([]*sourceTable{p.table}, p.table.below...) {
					if !slices.Contains(t.below, inside) {
						t.below = append(t.below, inside)
					}
				}
			}
		}
		state[t] = 2
		p.tables = append(p.tables, t)
	}
	for _, t := range c.tables {
		visit(t, nil)
	}
	return len(c.wrong) == before
}

// link finds out what objects the rows of every table become, from the outside
// in.
func (c *mapCompiler) link() {
	// No nesting is deeper than there are tables, so this many rounds settle all of
	// them, in whatever order the map has them.
	for range c.tables {
		changed := false
		for _, t := range c.tables {
			for _, p := range t.places {
				if p.object == nil && p.parent != nil && c.settle(p) {
					changed = true
				}
			}
		}
		if !changed {
			return
		}
	}
}

// settle takes what a nested place is from what its parent is.
func (c *mapCompiler) settle(p *place) bool {
	var outer *rules.Table
	for _, of := range p.parent.places {
		switch {
		case of.object == nil:
			// The parent is not settled itself; a later round comes back.
			return false
		case outer == nil:
			outer = of.object
		case outer != of.object:
			c.errorf(p.line, "rows of %s become different things, so that nothing can be said to go into all of them; give the table a second name", p.parent.name)
			// Having an object keeps later rounds from complaining again, and
			// broken keeps it from being filled.
			p.object, p.broken = outer, true
			return true
		}
	}
	if outer == nil {
		return false
	}
	if p.path == "" {
		p.mode, p.object = asMembers, outer
		return true
	}
	typ := rules.Object(outer)
	for name := range strings.SplitSeq(p.path, ".") {
		// A number says which of several objects in a fill is meant, and has no
		// type of its own.
		if isNumber(name) {
			continue
		}
		if typ.Shape == rules.ShapeList {
			typ = *typ.Item
		}
		if typ.Shape != rules.ShapeObject {
			c.errorf(p.line, "%s of %s can hold no rows", p.path, p.parent.name)
			p.object, p.broken = outer, true
			return true
		}
		field, known := findField(typ.Table, name)
		if !known {
			c.unknown(p.line, "attr", name, p.parent.name, fieldNames(typ.Table))
			p.object, p.broken = outer, true
			return true
		}
		typ, p.needed, p.name = field.Type, field.Required, memberName(name)
	}
	switch {
	case typ.Shape == rules.ShapeObject:
		p.mode, p.object = asObject, typ.Table
	case typ.Shape == rules.ShapeList && typ.Item.Shape == rules.ShapeObject:
		p.mode, p.object, p.most = asList, typ.Item.Table, typ.Max
	default:
		c.errorf(p.line, "%s of %s is a plain value; fill it in %s", p.path, p.parent.name, p.parent.name)
		p.object, p.broken = outer, true
	}
	return true
}

// isNumber reports whether a part of a path is the place in a list.
func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// memberName writes the name of a member as it stands in the line; names of attrs
// need no escapes.
func memberName(name string) []byte { return []byte(`"` + name + `":`) }

// findField finds a field of a table of the contract, which is what a map may
// fill.
func findField(of *rules.Table, name string) (rules.Field, bool) {
	at := slices.IndexFunc(of.Fields, func(field rules.Field) bool { return field.Name == name })
	if at < 0 {
		return rules.Field{}, false
	}
	return of.Fields[at], true
}

// fieldNames lists them, for the hint about a name that is not among them.
func fieldNames(of *rules.Table) (names []string) {
	for _, field := range of.Fields {
		names = append(names, field.Name)
	}
	return names
}

// totals takes control totals that stand in the map, and has them read as the
// service reads them.
func (c *mapCompiler) totals(node *yamltree.Node) []byte {
	if node == nil {
		return nil
	}
	for _, t := range c.tables {
		for _, p := range t.places {
			if p.stem == totalsStem {
				c.errorf(node.Line, "control_totals stand in the map and in table %s; leave one out", t.name)
			}
		}
	}
	// The service's own reader judges them: a book must not carry totals that are
	// refused at the end of an import.
	body := appendLiteral(nil, node, contract.BookTable(totalsStem))
	if _, err := contract.ReadControlTotals(c.context, body); err != nil {
		c.errorf(node.Line, "control_totals: %s", violations(err))
		return nil
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, body, "", "  "); err != nil {
		c.errorf(node.Line, "control_totals: %s", err)
	}
	return append(indented.Bytes(), '\n')
}

// appendLiteral writes a part of the map as JSON. Whole numbers are numbers
// where they are wanted; sums stay the digits they are written with.
func appendLiteral(dst []byte, node *yamltree.Node, of *rules.Table) []byte {
	switch node.Kind {
	case yamltree.Group:
		dst = append(dst, '{')
		for i, member := range node.Members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendText(dst, []byte(member.Name)), ':')
			var typ rules.Type
			if of != nil {
				field, _ := findField(of, member.Name)
				if typ = field.Type; typ.Shape == rules.ShapeList {
					typ = *typ.Item
				}
			}
			if typ.Shape == rules.ShapeInteger && member.Node.Kind == yamltree.Text && isNumber(member.Node.Text) {
				dst = append(dst, member.Node.Text...)
				continue
			}
			dst = appendLiteral(dst, member.Node, typ.Table)
		}
		return append(dst, '}')
	case yamltree.List:
		dst = append(dst, '[')
		for i, item := range node.Items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendLiteral(dst, item, of)
		}
		return append(dst, ']')
	case yamltree.Text:
		return appendText(dst, []byte(node.Text))
	}
	return append(dst, "null"...)
}
