package rules

// value reads the value of a field or item.
func (r *reader) value(node *Node, required bool) bool {
	kind := r.lexer.peek()
	if kind == '{' && node.typ.Or != nil {
		node.typ = node.typ.Or
	}
	switch shape := node.typ.Shape; {
	case shape == ShapeAny:
		return r.any(node)
	case kind == 'n':
		return r.null(node, required)
	case kind == '{' && shape == ShapeObject:
		return r.object(node)
	case kind == '[' && shape == ShapeList:
		return r.list(node)
	case kind == '{', kind == '[', shape == ShapeObject, shape == ShapeList:
		if !r.any(node) {
			return false
		}
		r.reject(node, CodeInvalidType, typeDetails[shape])
		return true
	}
	if !r.scalar(node) {
		return false
	}
	if node.end-node.start == 2 && kind == '"' && !node.typ.free() && r.empty(node, required) {
		return true
	}
	node.state |= isPresent
	switch shape := node.typ.Shape; {
	case shape == ShapeText:
		r.text(node, kind)
	case r.special && kind == '"' && !allowedCharacters(r.unquote(node), false):
		r.reject(node, CodeInvalidCharacters, detailCharacters)
	case shape == ShapeBoolean:
		r.boolean(node, kind)
	case shape == ShapeDate, shape == ShapeDatetime:
		r.time(node, kind)
	default:
		r.number(node, kind)
	}
	return true
}

// object reads the members of an object and reports missing ones.
func (r *reader) object(node *Node) bool {
	if !r.open(node) {
		return false
	}
	table := node.typ.Table
	var unknown nameSet
	var given [(MaxFields + 63) / 64]uint64 // one bit per field seen
	var last *Node
	count, next := 0, 0
	for r.lexer.peek() != '}' {
		i := r.lexer.expectName(table.quotedNames, next)
		if i < 0 {
			name, offset, ok := r.name()
			if !ok {
				return false
			}
			if i = table.find(name); i < 0 {
				if !r.addName(&unknown, name) || !r.unknownField(table, name, offset) {
					return false
				}
				continue
			}
		}
		if given[i>>6]&(1<<(i&63)) != 0 {
			return r.duplicateField()
		}
		given[i>>6] |= 1 << (i & 63)
		next = i + 1
		member := r.child(last, i, &table.Fields[i].Type)
		if member == nil || !r.value(member, table.Fields[i].Required) {
			return false
		}
		last = member
		count++
	}
	if !r.close(node) {
		return false
	}
	r.dropNames(&unknown)
	node.value = int64(given[0]) //nolint:gosec // the bits
	node.children = r.arena.children(node, last, count)
	for _, i := range table.required {
		if given[i>>6]&(1<<(i&63)) == 0 {
			r.rejectMissing(node, table.Fields[i].Name)
		}
	}
	return true
}

// list reads the items of a list. Items over the limit are checked for valid
// JSON but not stored, so a million of them take no memory.
func (r *reader) list(node *Node) bool {
	if !r.open(node) {
		return false
	}
	typ, count, kept := node.typ, 0, 0
	var last *Node
	for ; r.lexer.peek() != ']'; count++ {
		if typ.Max == 0 || count < typ.Max {
			item := r.child(last, count, typ.Item)
			if item == nil || !r.value(item, true) {
				return false
			}
			last = item
			kept++
			continue
		}
		if count == typ.Max {
			r.rejectLength(node)
		}
		if !r.notCancelled() || !r.skipValue() {
			return false
		}
	}
	if !r.close(node) {
		return false
	}
	node.children = r.arena.children(node, last, kept)
	if count < typ.Min {
		r.reject(node, CodeBlank, "Must have at least "+plural(typ.Min, "item")+".")
	}
	return true
}

// null means the same as leaving an optional field out. A required field is
// missing.
func (r *reader) null(node *Node, required bool) bool {
	if !r.scalar(node) {
		return false
	}
	if required {
		r.reject(node, CodeRequired, detailRequired)
	}
	return true
}

// empty handles "" where it is not a regular value. Exports write "" for "none",
// so an optional value counts as absent. It reports whether the value needs no
// further check.
func (r *reader) empty(node *Node, required bool) bool {
	switch {
	case !required:
	case node.typ.Shape == ShapeText && node.typ.Min == 0:
		return false // a type that knows what it means by it
	default:
		node.state |= isPresent
		r.reject(node, CodeBlank, detailBlank)
	}
	return true
}

// scalar reads a scalar value and records its position.
func (r *reader) scalar(node *Node) bool {
	length, err := r.lexer.readSimple()
	if err != nil {
		return r.syntaxError(err)
	}
	node.end = r.offset()
	node.start = node.end - toInt32(length)
	return true
}

func (r *reader) open(node *Node) bool {
	if !r.enter() {
		return false
	}
	node.start = r.offset() - 1
	node.end = node.start
	node.state |= isPresent
	return true
}

func (r *reader) close(node *Node) bool {
	if !r.leave() {
		return false
	}
	node.end = r.offset()
	return true
}

func (r *reader) offset() int32 { return toInt32(r.lexer.offset()) }

// toInt32 keeps nodes small. checkStart refuses bodies over 2 GiB.
func toInt32(n int) int32 {
	return int32(n) //nolint:gosec // the prologue refuses larger bodies
}

// enter reads the start of an object or list.
func (r *reader) enter() bool {
	if err := r.lexer.readDelimiter(); err != nil {
		return r.syntaxError(err)
	}
	if r.depth--; r.depth < 0 {
		return r.malformed("The JSON is nested too deeply.")
	}
	return true
}

// leave reads the end of an object or list.
func (r *reader) leave() bool {
	if err := r.lexer.readDelimiter(); err != nil {
		return r.syntaxError(err)
	}
	r.depth++
	return true
}

// child creates the node of a member or item. Until the parent is complete,
// node.parent is the previous sibling. It returns nil if the document has too
// many values.
func (r *reader) child(before *Node, index int, typ *Type) *Node {
	if !r.countValue() {
		return nil
	}
	node := r.arena.newNode()
	node.doc, node.parent, node.index, node.typ = r.doc, before, toInt32(index), typ
	return node
}

// reject reports a shape violation of a value. It is not inlined: inlining would
// double the stack of every reader, although violations are rare, and growing the
// stacks of thousands of concurrent readers takes longer than reading.
//
//go:noinline
func (r *reader) reject(node *Node, code, detail string) {
	node.state |= isBroken
	r.doc.report.addShape(finding{offset: node.start, node: node, code: code, detail: detail})
}

// rejectMissing reports a missing member. It is not inlined for the same reason
// as reject.
//
//go:noinline
func (r *reader) rejectMissing(node *Node, member string) {
	r.doc.report.addShape(finding{offset: node.end, node: node, member: member, code: CodeRequired, detail: detailRequired})
}

// rejectLength reports a list with too many items at its first excess item, so
// that the report stays in document order.
func (r *reader) rejectLength(node *Node) {
	node.state |= isBroken
	r.doc.report.addShape(finding{offset: r.offset(), node: node, code: CodeMaxItems,
		detail: "Must have at most " + plural(node.typ.Max, "item") + "."})
}
