package rules

import (
	"strings"
)

// any reads a value that is kept as it was sent.
func (r *reader) any(node *Node) bool {
	node.state |= isPresent
	kind := r.decoder.PeekKind()
	if kind != '{' && kind != '[' {
		if !r.scalar(node) {
			return false
		}
		r.nul(node.start, node.end)
		return true
	}
	before := r.offset()
	if !r.wild() {
		return false
	}
	node.end = r.offset()
	// Only a colon or a comma and white space can stand before the value.
	for node.start = before; strings.IndexByte(" \t\r\n:,", r.doc.text[node.start]) >= 0; {
		node.start++
	}
	return true
}

// wild walks a value that no table describes: metadata, the value of an
// unknown field, an item too many. It still has to be sound JSON, with no name
// twice and no U+0000.
func (r *reader) wild() bool {
	switch r.decoder.PeekKind() {
	case '{':
		return r.wildObject()
	case '[':
		return r.wildList()
	}
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return r.broken(err)
	}
	end := r.offset()
	r.nul(end-narrow(len(raw)), end)
	return true
}

func (r *reader) wildObject() bool {
	if !r.deeper() {
		return false
	}
	var seen names
	for r.decoder.PeekKind() != '}' {
		name, offset, ok := r.name()
		switch {
		case !ok:
			return false
		case !seen.add(name):
			return r.twice()
		case r.odd && strings.IndexByte(name, 0) >= 0:
			r.astray(offset, CodeInvalidCharacters, detailCharacters)
		}
		if !r.wild() {
			return false
		}
	}
	return r.shallower()
}

func (r *reader) wildList() bool {
	if !r.deeper() {
		return false
	}
	for r.decoder.PeekKind() != ']' {
		if !r.wild() {
			return false
		}
	}
	return r.shallower()
}

// stranger refuses a member that the table does not have.
func (r *reader) stranger(name string, offset int32) bool {
	if r.odd && !clean(name, false) {
		r.astray(offset, CodeInvalidCharacters, detailCharacters)
	} else {
		r.astray(offset, CodeUnknownField, "This field is not part of the documented set.")
	}
	return r.wild()
}

// name reads the name of a member and tells where it stands.
func (r *reader) name() (name string, offset int32, ok bool) {
	raw, err := r.decoder.ReadValue()
	if err != nil {
		return "", 0, r.broken(err)
	}
	end := r.offset()
	offset = end - narrow(len(raw))
	quoted := r.doc.text[offset:end]
	if r.odd && strings.IndexByte(quoted, '\\') >= 0 {
		return unescape(quoted), offset, true
	}
	return quoted[1 : len(quoted)-1], offset, true
}

// nul refuses U+0000 in a value that has no other rule.
func (r *reader) nul(start, end int32) {
	if r.odd && hasNUL(r.doc.text[start:end]) {
		r.astray(start, CodeInvalidCharacters, detailCharacters)
	}
}

// hasNUL finds U+0000 in a JSON string, where databases and the programs
// behind them would cut the text. It can only come as an escape.
func hasNUL(raw string) bool {
	return raw[0] == '"' && strings.Contains(raw, `\u0000`) && strings.IndexByte(unescape(raw), 0) >= 0
}

// names remembers the names of an object to notice one that comes twice.
type names map[string]struct{}

func (n *names) add(name string) bool {
	if _, twice := (*n)[name]; twice {
		return false
	}
	if *n == nil {
		*n = names{}
	}
	(*n)[name] = struct{}{}
	return true
}
