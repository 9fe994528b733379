package rules

import (
	"math/bits"
	"strconv"
	"time"

	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// Document is a body that was read against a table: its values, and what is
// wrong with them so far. It is for one goroutine.
type Document struct {
	text   string // the whole body; nodes are cuts of it
	root   *Node
	report Report
	arena  *arena // where its nodes are
}

// Release says that nobody looks at the document or its nodes any more, so that
// another one may have their memory. Texts and what the report has told stay.
// It need not be called.
func (d *Document) Release() {
	d.root, d.report = nil, Report{}
	d.arena.release()
	d.arena = nil
}

// Root gives the outermost object.
func (d *Document) Root() *Node { return d.root }

// Report gives the list that shape violations are in already and that
// cross-field rules add theirs to.
func (d *Document) Report() *Report { return &d.report }

// Node is one value of a document, or one that is not there. Every method
// works on every node, so rules need not ask before they look: what is absent,
// or was refused by its shape, has the zero value of whatever is asked.
type Node struct {
	doc        *Document
	parent     *Node // while the parent is being read: the sibling before this one
	typ        *Type
	children   *[]*Node // items as they were sent, members as the table has them; nil when there are none
	value      int64    // of a number, a boolean, a date or a datetime; of an object a bit for each field it has
	start, end int32    // of the value's JSON in the text
	index      int32    // of the field in the parent's table, or of the item
	places     uint8    // of a decimal whose value is a count
	state      state
}

type state uint8

const (
	isPresent state = 1 << iota // given, and not null
	isBroken                    // has a shape violation of its own
	isEscaped                   // a text with escapes in it
	isCounted                   // a decimal with a count and its places, spelled without an exponent
)

// absent stands for everything that is not there.
var absent = &Node{typ: &Type{}}

// Field gives a member of an object. A name the table does not declare is a
// mistake of ours and reads as absent; a parity test walks the tables.
func (n *Node) Field(name string) *Node {
	if n.typ.Shape != ShapeObject || n.children == nil {
		return absent
	}
	// Objects keep what was sent, not a place for all that could have been: many
	// empty ones would cost a hundred times their own size.
	i := n.typ.Table.find(name)
	if i < 0 {
		return absent
	}
	given, its := uint64(n.value), uint64(1)<<(i&63) //nolint:gosec // the bits
	if given&its == 0 {
		return absent
	}
	return (*n.children)[bits.OnesCount64(given&(its-1))]
}

// Items gives the values of a list.
func (n *Node) Items() []*Node {
	if n.typ.Shape != ShapeList || n.children == nil {
		return nil
	}
	return *n.children
}

// Present reports whether a value was given. null counts as not given.
func (n *Node) Present() bool { return n.state&isPresent != 0 }

// Valid reports whether a value was given and has the shape the table asks
// for. It speaks of the value itself, not of the members of an object or list.
func (n *Node) Valid() bool { return n.state&(isPresent|isBroken) == isPresent }

// Text gives a text, and any other single value in the words it was sent in.
// Objects, lists and any-JSON values have only Raw.
func (n *Node) Text() string {
	if !n.Valid() || n.typ.Shape >= ShapeObject {
		return ""
	}
	return n.plain()
}

// Bool gives a boolean.
func (n *Node) Bool() bool { return n.typ.Shape == ShapeBoolean && n.Valid() && n.value != 0 }

// Int gives an integer.
func (n *Node) Int() int64 { return n.valueOf(ShapeInteger) }

// Amount gives money.
func (n *Node) Amount() money.Amount { return money.Amount(n.valueOf(ShapeAmount)) }

// Decimal gives an exact number with its spelling. Money can be asked for as a
// decimal too.
func (n *Node) Decimal() money.Decimal {
	if !n.Valid() || n.typ.Shape != ShapeDecimal && n.typ.Shape != ShapeAmount {
		return money.Decimal{}
	}
	if n.state&isCounted != 0 {
		return money.NewDecimal(n.plain(), n.value, n.places)
	}
	digits, _ := n.digits()
	value, _ := money.ParseDecimal(digits) // it was read once already
	return value
}

// Day gives a date.
func (n *Node) Day() calendar.Day { return calendar.DayFromNumber(n.valueOf(ShapeDate)) }

// Instant gives a datetime in UTC.
func (n *Node) Instant() time.Time {
	if !n.Valid() || n.typ.Shape != ShapeDatetime {
		return time.Time{}
	}
	return time.Unix(n.value, 0).UTC()
}

// Raw gives the value's JSON as it was sent, spelling and spaces kept.
func (n *Node) Raw() string {
	if !n.Present() {
		return ""
	}
	return n.doc.text[n.start:n.end]
}

// Attr gives the dotted path, "" for the outermost object.
func (n *Node) Attr() string { return string(n.appendAttr(nil)) }

func (n *Node) appendAttr(dst []byte) []byte {
	if n.parent == nil {
		return dst
	}
	dst = n.parent.appendAttr(dst)
	if len(dst) > 0 {
		dst = append(dst, '.')
	}
	if n.parent.typ.Shape == ShapeList {
		return strconv.AppendInt(dst, int64(n.index), 10)
	}
	return append(dst, n.parent.typ.Table.Fields[n.index].Name...)
}

func (n *Node) valueOf(shape Shape) int64 {
	if n.typ.Shape != shape || !n.Valid() {
		return 0
	}
	return n.value
}

// digits gives a number without its exponent, if it has one.
func (n *Node) digits() (string, error) {
	if n.doc.text[n.start] == '"' {
		return n.plain(), nil
	}
	return money.Plain(n.plain())
}

// plain gives a string without quotes and escapes, and any other value as it
// was sent. Only a string with escapes costs a copy.
func (n *Node) plain() string {
	raw := n.doc.text[n.start:n.end]
	switch {
	case raw[0] != '"':
		return raw
	case n.state&isEscaped == 0:
		return raw[1 : len(raw)-1]
	}
	return unescape(raw)
}
