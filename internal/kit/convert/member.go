package convert

import "slices"

// objectMember is an attr of an object and how it is filled. Members are written with a trailing
// comma; whoever adds the braces removes the last one. So an object can be built from the rows of
// several tables, some of which may add nothing.
type objectMember struct {
	attr     string // path, for messages
	name     []byte // with quotes, colon, and the opening quote of a string
	required bool

	value       *expression      // a plain value
	parts       []objectMember   // an object from the same row
	items       [][]objectMember // a list of objects from the same row
	texts       []*expression    // a list of plain values from the same row
	split       string           // separator of a list in one text
	placeholder *placeholder     // the rows of other tables

	// Computed before any row is read.
	constant []byte       // the whole member with its comma, if it is constant
	codes    *[128][]byte // the same by a one-letter code in its column
	plain    bool         // the column can be copied
}

// placeholder is where rows of another table are inserted: a list, one object, or further members.
type placeholder struct {
	place *place
	mark  byte // from 1; a NUL and this byte are replaced later
}

// endMark follows a NUL at the end of an object with placeholders. Whether the last comma must be
// removed is known after filling them.
const endMark = 0

// write appends the members of an object. It reports whether any value came from the row: an object
// whose columns are all empty is not written.
func (r *currentRow) write(dst []byte, members []objectMember) ([]byte, bool) {
	drawn := false
	for i := range members {
		m := &members[i]
		before, had := len(dst), drawn
		switch {
		case m.constant != nil:
			// A constant does not count as a value from the row.
			dst = append(dst, m.constant...)
			continue
		case m.value != nil:
			if m.codes != nil || m.plain {
				var done bool
				if dst, done = r.writeFast(dst, m); done {
					drawn = true
					continue
				}
			}
			text := m.value.get(r)
			if len(text) == 0 {
				break
			}
			if dst = m.value.body(append(dst, m.name...), r, text); m.value.quoted {
				dst = append(dst, '"', ',')
			} else {
				dst = append(dst, ',')
			}
			drawn = drawn || !m.value.fixed
		case m.placeholder != nil:
			// Whether rows will come is unknown, so an object with a placeholder is always written.
			dst = append(dst, 0, m.placeholder.mark)
			drawn = true
		case m.parts != nil:
			var some bool
			if dst, some = r.object(append(dst, m.name...), m.parts); !some {
				dst = dst[:before]
			} else {
				dst = append(dst, ',')
			}
			drawn = drawn || some
		default:
			var some bool
			if dst, some = r.list(append(dst, m.name...), m); !some {
				// A required list is written even if it is empty.
				if dst = dst[:before]; m.required {
					dst = append(append(dst, m.name...), '[', ']', ',')
				}
			}
			drawn = drawn || some
		}
		// An unreadable value has already failed the row.
		if len(dst) == before && m.required && !r.failed {
			r.missing(m)
			drawn = had
		}
	}
	return dst, drawn
}

// missing reports a required attr without a value.
func (r *currentRow) missing(m *objectMember) {
	column := -1
	if m.value != nil {
		column = m.value.column
	}
	r.lacking = !r.failed
	r.fail(Unconvertible, column, nil, m.attr+" is required but empty; set a default, or exclude the row with when")
}

// object writes an object from the same row. If no value came from the row, missing attrs in it are
// not reported.
func (r *currentRow) object(dst []byte, parts []objectMember) (out []byte, drawn bool) {
	failed := r.failed
	dst, drawn = r.write(append(dst, '{'), parts)
	if !drawn && !slices.ContainsFunc(parts, func(m objectMember) bool { return m.constant == nil && (m.value == nil || !m.value.fixed) }) {
		drawn = true // the map has nothing but constants for it
	}
	if !drawn {
		if r.lacking { // required only if there is anything
			r.failed, r.lacking = failed, false
		}
		return dst, false
	}
	for i := range parts {
		if parts[i].hasPlaceholder() {
			return append(dst, 0, endMark), true
		}
	}
	dst[len(dst)-1] = '}' // replaces the last comma
	return dst, true
}

// hasPlaceholder reports whether rows of other tables are inserted here.
func (m *objectMember) hasPlaceholder() bool { return m.placeholder != nil }

// list writes a list from the same row.
func (r *currentRow) list(dst []byte, m *objectMember) (out []byte, drawn bool) {
	dst = append(dst, '[')
	for _, item := range m.items {
		before := len(dst)
		var some bool
		if dst, some = r.object(dst, item); !some {
			dst = dst[:before]
			continue
		}
		dst, drawn = append(dst, ','), true
	}
	for _, one := range m.texts {
		text := one.get(r)
		for len(text) > 0 {
			var piece []byte
			piece, text = cutPart(text, m.split)
			if len(piece) > 0 {
				if one.quoted {
					dst = append(one.body(append(dst, '"'), r, piece), '"', ',')
				} else {
					dst = append(one.body(dst, r, piece), ',')
				}
				drawn = true
			}
		}
	}
	if !drawn {
		return dst, false
	}
	dst[len(dst)-1] = ']'
	return append(dst, ','), true
}
