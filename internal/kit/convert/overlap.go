package convert

import "slices"

// filledAttr is an attr and the place that fills it.
type filledAttr struct {
	name string
	by   *place
}

// checkOverlaps reports attrs that two tables fill in one object. Only a list can hold the rows of
// several tables.
func (c *mapCompiler) checkOverlaps() {
	for _, t := range c.tables {
		for _, p := range t.places {
			attrs := p.attrs()
			for i, one := range attrs {
				for _, other := range attrs[:i] {
					if one.name == other.name && one.by != other.by {
						c.overlap(one.name, one.by, other.by)
					}
				}
			}
		}
		for i, one := range t.holders {
			for _, other := range t.holders[:i] {
				if one.mode == asObject && one.path == other.path {
					c.overlap(one.path, one, other)
				}
			}
		}
	}
}

// overlap reports an attr that is filled twice. A table may have several places for it, because each
// of its rows goes to one of them: then only rows that meet are reported.
func (c *mapCompiler) overlap(attr string, one, other *place) {
	sameGroup := func(g *linkGroup) bool { return slices.Contains(g.places, one) && slices.Contains(g.places, other) }
	if one.table == other.table && one.parent != nil && one.parent == other.parent && slices.ContainsFunc(one.parent.groups, sameGroup) {
		if !slices.Contains(one.rivals, other) {
			one.rivals, other.rivals = append(one.rivals, other), append(other.rivals, one)
		}
		return
	}
	if one.line < other.line {
		one, other = other, one
	}
	c.errorf(one.line, "%s is filled by table %s and by table %s (line %d); remove it from one of them", attr, one.table.name, other.table.name, other.line)
}

// attrs returns the attrs of the object of a place: its own, and those that other tables add to it.
func (p *place) attrs() (list []filledAttr) {
	for i := range p.members {
		m := &p.members[i]
		switch {
		case m.placeholder == nil:
			list = append(list, filledAttr{m.attr, p})
		case m.placeholder.place.mode == asMembers:
			list = append(list, m.placeholder.place.attrs()...)
		default:
			list = append(list, filledAttr{m.attr, m.placeholder.place})
		}
	}
	return list
}
