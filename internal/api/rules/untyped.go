package rules

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"landfall/internal/lib/money"
	"landfall/internal/lib/spelling"
)

// any reads a value that is kept unchanged.
func (r *reader) any(node *Node) bool {
	node.state |= isPresent
	kind := r.lexer.peek()
	if kind != '{' && kind != '[' {
		if !r.scalar(node) {
			return false
		}
		r.controls(node.start, node.end)
		if node.typ.Object && kind != 'n' {
			r.reject(node, CodeInvalidType, typeDetails[ShapeObject])
		}
		return true
	}
	before := r.offset()
	if !r.skipValue() {
		return false
	}
	node.end = r.offset()
	// Only a colon or comma and white space can precede the value.
	for node.start = before; strings.IndexByte(" \t\r\n:,", r.doc.text[node.start]) >= 0; {
		node.start++
	}
	switch {
	case node.typ.Object && kind == '[':
		r.reject(node, CodeInvalidType, typeDetails[ShapeObject])
	case node.typ.Decimals:
		r.decimals(node)
	}
	return true
}

// decimals checks the values of an object that was read.
func (r *reader) decimals(node *Node) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(r.doc.text[node.start:node.end]), &members) != nil {
		return // it is wrong in another way
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := string(members[name])
		var digits string
		var err error
		switch value[0] {
		case '"':
			digits = unescape(value)
		case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			digits, err = money.Plain(value)
		default:
			r.reject(node, CodeInvalidType, "Its values must be numbers or strings that contain decimal numbers.")
			return
		}
		if err == nil {
			_, err = money.ParseDecimal(digits)
		}
		if err != nil {
			r.decimal(node, err, "Its values must have at most 10 decimal places.")
			return
		}
	}
}

// skipValue reads a value that no table describes: metadata, the value of an
// unknown field, or an excess item. It must still be valid JSON without
// duplicate names or control characters other than line breaks and tabs.
func (r *reader) skipValue() bool {
	switch r.lexer.peek() {
	case '{':
		return r.skipObject()
	case '[':
		return r.skipList()
	}
	length, err := r.lexer.readScalar()
	if err != nil {
		return r.syntaxError(err)
	}
	end := r.offset()
	r.controls(end-toInt32(length), end)
	return true
}

func (r *reader) skipObject() bool {
	if !r.enter() {
		return false
	}
	var seen nameSet
	for r.lexer.peek() != '}' {
		name, offset, ok := r.name()
		switch {
		case !ok, !r.addName(&seen, name):
			return false
		case r.special && !allowedCharacters(name, true):
			r.rejectHere(offset, CodeInvalidCharacters, detailCharacters)
		}
		if !r.skipValue() {
			return false
		}
	}
	r.dropNames(&seen)
	return r.leave()
}

func (r *reader) skipList() bool {
	if !r.enter() {
		return false
	}
	for r.lexer.peek() != ']' {
		if !r.notCancelled() || !r.skipValue() {
			return false
		}
	}
	return r.leave()
}

// unknownField refuses a field that is not in the table and suggests a similar
// one.
func (r *reader) unknownField(table *Table, name string, offset int32) bool {
	switch {
	case r.doc.report.full():
	case r.special && !allowedCharacters(name, false):
		r.rejectHere(offset, CodeInvalidCharacters, detailCharacters)
	case table.Open:
	default:
		r.rejectHere(offset, CodeUnknownField, unknownFieldDetail(name, table.names))
	}
	return r.skipValue()
}

func unknownFieldDetail(name string, known []string) string {
	const detail = "Unknown field."
	if hint := spelling.Hint(name, known); hint != "" {
		return detail + " " + hint
	}
	return detail
}

// name reads the name of a member and returns its position.
func (r *reader) name() (name string, offset int32, ok bool) {
	length, err := r.lexer.readScalar()
	if err != nil {
		return "", 0, r.syntaxError(err)
	}
	end := r.offset()
	offset = end - toInt32(length)
	quoted := r.doc.text[offset:end]
	if r.special && strings.IndexByte(quoted, '\\') >= 0 {
		return unescape(quoted), offset, true
	}
	return quoted[1 : len(quoted)-1], offset, true
}

// controls refuses control characters in a value that has no other rule.
func (r *reader) controls(start, end int32) {
	if raw := r.doc.text[start:end]; r.special && raw[0] == '"' && !allowedCharacters(unescape(raw), true) {
		r.rejectHere(start, CodeInvalidCharacters, detailCharacters)
	}
}

// nameSet collects the names of an object to detect duplicates. Most objects
// only have names that their table knows.
type nameSet struct {
	few   []string
	count int
	many  map[string]struct{}
}

// fewNames is how many names are compared one by one before a map is used.
const fewNames = 8

func (n *nameSet) add(name string) bool {
	if n.many == nil && n.count < fewNames {
		if slices.Contains(n.few, name) {
			return false
		}
		n.few = append(n.few, name)
		n.count++
		return true
	}
	if n.many == nil {
		n.many = make(map[string]struct{}, 2*fewNames)
		for _, known := range n.few {
			n.many[known] = struct{}{}
		}
	}
	if _, twice := n.many[name]; twice {
		return false
	}
	n.many[name] = struct{}{}
	n.count++
	return true
}
