package convert

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// compileFills compiles the objects of all places.
func (c *mapCompiler) compileFills() {
	for _, t := range c.tables {
		for _, p := range t.places {
			// The place was already reported as wrong.
			if p.object == nil || p.broken {
				continue
			}
			node := p.node.Find("fill")
			// The places of a table may share one fill.
			if node == nil {
				node = t.node.Find("fill")
			}
			if node == nil || node.Kind != yamltree.Mapping {
				c.errorf(p.line, "fill is required: which columns of %s fill which attrs", t.name)
				continue
			}
			f := &fillCompiler{mapCompiler: c, place: p, open: map[string]*place{}}
			for _, holder := range slices.Backward(t.holders) { // of several in one list the first one counts
				f.open[holder.path] = holder
				f.further = f.further || holder.mode == asMembers
			}
			preset := []string{}
			// The fileWriter writes these two members at the start of every line.
			if p.mode == asRoot {
				preset = []string{"import_supplier", "external_account_number"}
			}
			c.filling = p
			p.members = f.members(node, p.object, "", preset)
			c.filling = nil
			if p.several.how == sumOfRows && !p.summable() {
				c.errorf(p.line, "several: sum is for rows that add plain attrs to one object of another table")
			}
			for i := range p.members {
				if v := p.members[i].value; p.several.how == sumOfRows && v != nil && holdsNumbers(v.typ) {
					c.oneCurrency(p.line, v.numbers.currencies)
				}
			}
			// Anything left has no position among the members, and its rows would be lost.
			for _, holder := range t.holders {
				if f.open[holder.path] == holder && holder.mode != asMembers && !holder.broken {
					c.errorf(holder.line, "%s has no %s in its fill for rows of %s to go into", t.name, holder.path, holder.table.name)
				}
			}
		}
	}
}

// fillCompiler compiles the object of one place.
type fillCompiler struct {
	*mapCompiler
	place   *place
	open    map[string]*place // places of other tables without a position yet, by path
	further bool              // another table has further members of the object
}

// members compiles the members of a fill in order. Rows of other tables are inserted where the fill
// says {rows: TABLE}, or at the end.
func (f *fillCompiler) members(node *yamltree.Node, object *rules.Table, path string, preset []string) (list []objectMember) {
	known := slices.DeleteFunc(fieldNames(object), func(name string) bool { return slices.Contains(preset, name) })
	for _, given := range node.Members {
		field, is := findField(object, given.Name)
		if !is || slices.Contains(preset, given.Name) {
			f.unknown(given.Line, "attr", given.Name, strings.TrimSuffix(f.place.where()+"."+path, "."), known)
			continue
		}
		// Required members may come from another table, so a single row cannot tell that one is
		// missing.
		m := objectMember{attr: path + field.Name, name: memberName(field.Name), required: field.Required && f.place.mode != asMembers && !f.further}
		f.fill(&m, given.Node, field.Type, path+field.Name)
		if holder := f.open[path+field.Name]; holder != nil {
			f.errorf(given.Line, "%s is filled here and by rows of table %s (line %d); remove one of them, or write {rows: %s} here", path+field.Name, holder.table.name, holder.line, holder.table.name)
			holder.broken = true
			delete(f.open, path+field.Name)
		}
		list = append(list, m)
	}
	for _, field := range object.Fields {
		full := path + field.Name
		if holder := f.open[full]; holder != nil {
			delete(f.open, full)
			list = append(list, objectMember{attr: full, name: memberName(field.Name), placeholder: &placeholder{holder, holder.mark}})
		} else if field.Required && !slices.Contains(preset, field.Name) && node.Find(field.Name) == nil && f.place.mode != asMembers && !f.further {
			f.errorf(node.Line, "%s is required for %s and nothing fills it", full, f.place.where())
		}
	}
	if holder := f.open[""]; path == "" && holder != nil {
		for _, holder := range f.place.table.holders {
			if holder.mode == asMembers {
				list = append(list, objectMember{placeholder: &placeholder{holder, holder.mark}})
			}
		}
	}
	return list
}

// fill compiles one member according to its type.
func (f *fillCompiler) fill(m *objectMember, node *yamltree.Node, typ rules.Type, path string) {
	if node.Kind == yamltree.Mapping && node.Find("rows") != nil {
		f.rows(m, node, path)
		return
	}
	t := f.place.table
	switch {
	case typ.Shape == rules.ShapeObject:
		if node.Kind != yamltree.Mapping {
			f.errorf(node.Line, "%s has members of its own: %s", path, strings.Join(fieldNames(typ.Table), ", "))
			return
		}
		m.parts = f.members(node, typ.Table, path+".", nil)
	case typ.Shape == rules.ShapeList && typ.Item.Shape == rules.ShapeObject:
		items := node.Items
		// A list of one object may be written without a dash.
		if node.Kind == yamltree.Mapping {
			items = []*yamltree.Node{node}
		}
		for i, item := range items {
			if item.Kind != yamltree.Mapping {
				f.errorf(item.Line, "%s has members of its own: %s", path, strings.Join(fieldNames(typ.Item.Table), ", "))
				continue
			}
			below := path + "."
			// The index of a single object is left out, so that tables can go into
			// supply_addresses.supply_points.
			if len(items) > 1 {
				below += strconv.Itoa(i) + "."
			}
			m.items = append(m.items, f.members(item, typ.Item.Table, below, nil))
		}
		if len(items) == 0 {
			f.errorf(node.Line, "%s needs a list of what is in it, or {rows: TABLE}", path)
		}
	case typ.Shape == rules.ShapeList:
		f.list(m, node, typ)
	default:
		if m.value = f.expression(t, node, &typ); m.value.quoted {
			m.name = append(m.name, '"')
		}
		f.checkBirth(m.value, node, path)
		m.precompute(t, node)
	}
}

// checkBirth requires a map to say what two-digit years of birth mean: 24 is 1924 or 2024.
func (f *fillCompiler) checkBirth(v *expression, node *yamltree.Node, path string) {
	if path[strings.LastIndexByte(path, '.')+1:] != "date_of_birth" || v.fixed {
		return
	}
	for _, one := range append([]*expression{v}, v.choices...) {
		if len(v.choices) > 0 && one == v {
			continue // its parts have formats of their own
		}
		if slices.ContainsFunc(one.days, func(day *datePattern) bool { return day.shortYear() && !day.century.given }) {
			f.errorf(node.Line, "%s has years of two digits, and nothing says of which century: set century: adult, which means at least %d years ago, or another century", path, adultYears)
			return
		}
	}
}

// list compiles a list of plain values: several expressions, or one text that is split.
func (f *fillCompiler) list(m *objectMember, node *yamltree.Node, typ rules.Type) {
	items := node.Items
	if node.Kind != yamltree.List {
		items = []*yamltree.Node{node}
	}
	for _, item := range items {
		// With part, split selects one piece; alone, it makes an item of each piece.
		if item.Kind == yamltree.Mapping && item.Find("part") == nil {
			m.split, _ = f.text(item, "split")
		}
		m.texts = append(m.texts, f.expression(f.place.table, item, typ.Item))
	}
}

// rows sets where the rows of another table are inserted.
func (f *fillCompiler) rows(m *objectMember, node *yamltree.Node, path string) {
	name, line := f.text(node, "rows")
	holder := f.open[path]
	if holder == nil || holder.table.name != name {
		f.errorf(line, "table %s does not go into %s.%s; add it to its into", name, f.place.table.name, path)
		return
	}
	delete(f.open, path)
	m.placeholder = &placeholder{holder, holder.mark}
	// The number of rows is known only after the join. insert writes a required list even if it is
	// empty.
	m.required = false
}

// violations formats the violations of an error in one line.
func violations(err error) string {
	if known, ours := errors.AsType[*landfall.Error](err); ours && len(known.Violations) > 0 {
		var list []string
		for _, one := range known.Violations {
			list = append(list, one.Attr+": "+one.Detail)
		}
		return strings.Join(list, " ")
	}
	return err.Error()
}
