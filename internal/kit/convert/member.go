package convert

// objectMember is an attr of an object and how it is filled. An object is written as
// its members, each with a comma behind it; who puts the braces round them
// takes the last comma away. So objects can be put together from the rows of
// several tables without knowing which of them have anything to say.
type objectMember struct {
	attr     string // its path, for people
	name     []byte // with quotes and colon, and the quote of a value that has them
	required bool

	value       *expression      // a plain value
	parts       []objectMember   // an object in the same row
	items       [][]objectMember // a list of objects in the same row
	texts       []*expression    // a list of plain values in the same row
	split       string           // where the one text of a list is cut
	placeholder *placeholder     // what other tables bring

	// What is known of a plain value before any row is.
	constant []byte       // the whole member, comma included, if it is always the same
	codes    *[128][]byte // and by the letter in its column, if that is a code
	plain    bool         // a text stands there as it stands in its column
}

// placeholder is a place in an object that rows of another table fill: a list, one
// object, or further members of the object itself.
type placeholder struct {
	place *place
	mark  byte // from 1; a NUL and this byte stand for it until it is filled
}

// endMark stands behind a NUL for the end of an object that has holes: whether
// its last comma has to go is known when they are filled.
const endMark = 0

// write appends the members of an object. It says whether any of them came out
// of the row: an object of constants alone says nothing.
func (r *currentRow) write(dst []byte, members []objectMember) ([]byte, bool) {
	drawn := false
	for i := range members {
		m := &members[i]
		before, had := len(dst), drawn
		switch {
		case m.constant != nil:
			// A constant is no reason to write an object, so drawn stays as it was.
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
			// Whether rows will come is not known yet, so that an object with a
			// hole in it is always written.
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
				// A list that must be there is written empty; the row need not have
				// anything for it.
				if dst = dst[:before]; m.required {
					dst = append(append(dst, m.name...), '[', ']', ',')
				}
			}
			drawn = drawn || some
		}
		// A value that could not be read has failed the row already, and is not
		// missing on top.
		if len(dst) == before && m.required && !r.failed {
			r.missing(m)
			drawn = had
		}
	}
	return dst, drawn
}

// missing complains of an attr that must be there and is empty.
func (r *currentRow) missing(m *objectMember) {
	column := -1
	if m.value != nil {
		column = m.value.column
	}
	r.lacking = !r.failed
	r.fail(Unconvertible, column, nil, m.attr+" is required and there is nothing for it; give it a default, or leave the row out with when")
}

// object writes an object of the same row. If nothing of it came out of the row
// then neither did what is wrong with it.
func (r *currentRow) object(dst []byte, parts []objectMember) (out []byte, drawn bool) {
	failed := r.failed
	dst, drawn = r.write(append(dst, '{'), parts)
	if !drawn {
		if r.lacking { // something that is only needed if there is anything
			r.failed, r.lacking = failed, false
		}
		return dst, false
	}
	for i := range parts {
		if parts[i].hasPlaceholder() {
			return append(dst, 0, endMark), true
		}
	}
	dst[len(dst)-1] = '}' // instead of the last comma
	return dst, true
}

// hasPlaceholder reports whether rows of other tables come in here.
func (m *objectMember) hasPlaceholder() bool { return m.placeholder != nil }

// list writes a list of the same row.
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
