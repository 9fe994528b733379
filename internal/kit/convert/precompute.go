package convert

import (
	"landfall/internal/api/rules"
	"landfall/internal/lib/yamltree"
)

// Most members are one of a few texts known in advance: a constant, or the translation of a
// one-letter code. They are rendered once, with name and comma, and then copied.

// precompute renders what is known of a member. Invalid values are left to be reported row by row.
func (m *objectMember) precompute(t *sourceTable, node *yamltree.Node) {
	v := m.value
	usual := len(t.dialect.empty) == 0 // no column value means empty
	switch {
	case len(v.minus) > 0:
	case v.fixed && v.column < 0: // with a column too, the map is wrong and was reported
		blank := &currentRow{table: t}
		if text := v.get(blank); !blank.failed && len(text) > 0 {
			m.constant = m.render(t, text)
		}
	case v.letters != nil && usual && hasOnly(node, "column", "values"):
		m.codes = &[128][]byte{}
		for letter, text := range v.letters {
			if len(text) > 0 {
				m.codes[letter] = m.render(t, text)
			}
		}
	case v.direct && usual:
		switch v.typ.Shape {
		// These are judged value by value; a plain text alone may be copied as it
		// stands.
		case rules.ShapeBoolean, rules.ShapeInteger, rules.ShapeAmount, rules.ShapeDecimal, rules.ShapeDate, rules.ShapeDatetime:
		default:
			m.plain = v.typ.Choices == nil
		}
	}
}

// render returns the member as it appears in every row, or nil if the value is invalid.
func (m *objectMember) render(t *sourceTable, text []byte) []byte {
	blank := &currentRow{table: t}
	dst := m.value.body(append([]byte(nil), m.name...), blank, text)
	if m.value.quoted {
		dst = append(dst, '"')
	}
	if blank.failed {
		return nil
	}
	return append(dst, ',')
}

// hasOnly reports whether a node has no other members.
func hasOnly(node *yamltree.Node, names ...string) bool {
	have := 0
	for _, name := range names {
		if node.Find(name) != nil {
			have++
		}
	}
	return have == len(node.Members)
}

// writeFast writes a precomputed or copied member. It returns false if the value has to be
// examined.
func (r *currentRow) writeFast(dst []byte, m *objectMember) ([]byte, bool) {
	switch {
	case m.codes != nil:
		if text := r.fields[m.value.column]; len(text) == 1 && text[0] < 128 && m.codes[text[0]] != nil {
			return append(dst, m.codes[text[0]]...), true
		}
	case m.plain && r.simple:
		// Values with surrounding blanks take the general path, which trims them.
		if text := r.fields[m.value.column]; len(text) > 0 && text[0] > ' ' && text[len(text)-1] > ' ' && !shortened(text) {
			return append(append(append(dst, m.name...), text...), '"', ','), true
		}
	}
	return dst, false
}
