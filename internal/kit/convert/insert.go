package convert

import (
	"bytes"
	"slices"
)

// closeObject ends an object with a brace instead of its last comma.
func closeObject(object []byte) []byte {
	if last := len(object) - 1; object[last] == ',' {
		object[last] = '}'
		return object
	}
	// An object with nothing in it has no comma to give up.
	return append(object, '}')
}

// fill puts what was collected where its marks stand.
func (a *joiner) fill(dst, text []byte, last bool) []byte {
	// No value has a NUL in it by now: decoding refuses one, and JSON escapes it.
	// So each is a mark.
	for {
		at := bytes.IndexByte(text, 0)
		if at < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		mark := text[at+1]
		text = text[at+2:]
		// A hole of a later group keeps its mark, and so does the end of an object
		// with holes: until the last stage nobody knows whether a comma will stand
		// before it.
		switch {
		case mark == endMark && last:
			dst = closeObject(dst)
		case mark == endMark || !a.hasMark(mark):
			dst = append(dst, 0, mark)
		default:
			dst = a.insert(dst, mark)
		}
	}
}

// hasMark says whether anything at all can come into a hole.
func (a *joiner) hasMark(mark byte) bool {
	return slices.ContainsFunc(a.cursors, func(c *cursor) bool { return c.place.mark == mark })
}

// insert writes a list, an object or further members. The rows of several
// tables may stand in one list.
func (a *joiner) insert(dst []byte, mark byte) []byte {
	begun := false
	// fill has asked for the mark before, so that at least one cursor sets the
	// place.
	var p *place
	for _, c := range a.cursors {
		if c.place.mark != mark {
			continue
		}
		p = c.place
		switch {
		case c.rows == 0:
		case p.mode == asMembers:
			dst = append(dst, c.text...)
		case p.mode == asObject:
			if !begun {
				dst = append(append(dst, p.name...), c.text...)
				begun = true
			}
		default:
			if !begun {
				dst = append(append(dst, p.name...), '[')
				begun = true
			}
			dst = append(dst, c.text...)
		}
	}
	switch {
	case p.mode != asList:
	case begun:
		dst[len(dst)-1] = ']'
		dst = append(dst, ',')
	case p.needed:
		dst = append(append(dst, p.name...), '[', ']', ',')
	}
	return dst
}
