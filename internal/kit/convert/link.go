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

// inOrder adds the tables to the plan, inner tables first. It reports circular tables and then
// returns false.
func (c *mapCompiler) inOrder(p *plan) bool {
	before := len(c.wrong)
	state := map[*sourceTable]int{}
	var visit func(t *sourceTable, way []string)
	visit = func(t *sourceTable, way []string) {
		// Clipped, so that two branches do not share an array.
		way = append(slices.Clip(way), t.name)
		switch state[t] {
		case 1:
			c.errorf(t.line, "the tables form a circle: %s", strings.Join(way, " → "))
			return
		case 2:
			return
		}
		state[t] = 1
		for _, g := range t.groups {
			for _, p := range g.places {
				visit(p.table, way)
				// The inner table was visited first, so its own list is complete.
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

// link determines the objects of all tables, outermost first.
func (c *mapCompiler) link() {
	// Tables cannot be nested deeper than their number, so this many rounds are enough.
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

// settle derives the object of a nested place from its parent.
func (c *mapCompiler) settle(p *place) bool {
	var outer *rules.Table
	for _, of := range p.parent.places {
		switch {
		case of.object == nil:
			// The parent is not settled yet; a later round will try again.
			return false
		case outer == nil:
			outer = of.object
		case outer != of.object:
			c.errorf(p.line, "rows of %s are used in different places, so nothing can go into all of them; define the table twice under different names", p.parent.name)
			// Setting an object avoids reporting it again; broken keeps it from being filled.
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
		// A number selects one of several objects in a fill and has no type.
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

// isNumber reports whether a part of a path is a list index.
func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// memberName formats the name of a member. Names of attrs need no escaping.
func memberName(name string) []byte { return []byte(`"` + name + `":`) }

// findField finds a field of a contract table.
func findField(of *rules.Table, name string) (rules.Field, bool) {
	at := slices.IndexFunc(of.Fields, func(field rules.Field) bool { return field.Name == name })
	if at < 0 {
		return rules.Field{}, false
	}
	return of.Fields[at], true
}

// fieldNames lists the fields, for suggestions.
func fieldNames(of *rules.Table) (names []string) {
	for _, field := range of.Fields {
		names = append(names, field.Name)
	}
	return names
}

// totals reads control totals from the map and validates them as the service does.
func (c *mapCompiler) totals(node *yamltree.Node) []byte {
	if node == nil {
		return nil
	}
	for _, t := range c.tables {
		for _, p := range t.places {
			if p.stem == totalsStem {
				c.errorf(node.Line, "control_totals are in the map and in table %s; remove one", t.name)
			}
		}
	}
	// The service's own reader, because a book must not contain totals that are refused at the end
	// of an import.
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

// appendLiteral writes a part of the map as JSON. Integers become numbers where the contract wants
// them; amounts stay strings.
func appendLiteral(dst []byte, node *yamltree.Node, of *rules.Table) []byte {
	switch node.Kind {
	case yamltree.Mapping:
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
			if typ.Shape == rules.ShapeInteger && member.Node.Kind == yamltree.Scalar && isNumber(member.Node.Text) {
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
	case yamltree.Scalar:
		return appendText(dst, []byte(node.Text))
	}
	return append(dst, "null"...)
}
