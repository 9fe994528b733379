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
	// An empty object has no comma.
	return append(object, '}')
}

// fill replaces the placeholders with the collected rows.
func (a *joiner) fill(dst, text []byte, last bool) []byte {
	// No value contains a NUL: decoding refuses it and JSON escapes it. So every NUL is a mark.
	for {
		at := bytes.IndexByte(text, 0)
		if at < 0 {
			return append(dst, text...)
		}
		dst = append(dst, text[:at]...)
		mark := text[at+1]
		text = text[at+2:]
		// Placeholders of later groups are kept. So is the end of an object with placeholders: only
		// the last stage knows whether a comma comes before it.
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

// hasMark reports whether this stage fills a placeholder.
func (a *joiner) hasMark(mark byte) bool {
	return slices.ContainsFunc(a.cursors, func(c *cursor) bool { return c.place.mark == mark })
}

// insert writes a list, an object or further members. A list may contain the rows of several
// tables.
func (a *joiner) insert(dst []byte, mark byte) []byte {
	begun := false
	// fill has checked the mark, so at least one cursor sets the place.
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
