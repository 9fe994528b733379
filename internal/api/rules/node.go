package rules

import (
	"math/bits"
	"slices"
	"strconv"
	"time"

	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// Document is a body that was read against a table: its values and the
// violations found so far. It must not be used by several goroutines.
type Document struct {
	text   string // the whole body; nodes are slices of it
	root   *Node
	report Report
	arena  *arena // holds the nodes

	thousandths bool // some amount has three decimals
}

// HasThousandths reports whether an amount has three decimals, which few currencies
// have.
func (d *Document) HasThousandths() bool { return d.thousandths }

// Release makes the memory of the document and its nodes available for reuse.
// Neither may be used afterwards; strings and reported violations stay valid.
// Calling it is optional.
func (d *Document) Release() {
	d.root, d.report = nil, Report{}
	d.arena.release()
	d.arena = nil
}

// Root returns the outermost object.
func (d *Document) Root() *Node { return d.root }

// Report returns the violations. It already has the shape violations;
// cross-field rules add theirs.
func (d *Document) Report() *Report { return &d.report }

// Node is one value of a document, present or absent. Every method works on
// every node, so rules need no checks: an absent value, or one with a shape
// violation, returns the zero value of whatever is asked.
type Node struct {
	doc        *Document
	parent     *Node // while the parent is being read: the previous sibling
	typ        *Type
	children   *[]*Node // items as sent, or members in table order; nil if there are none
	value      int64    // of a number, boolean, date or datetime; for an object with few fields one bit per field that is present
	start, end int32    // position of the value's JSON in the text
	index      int32    // of the field in the parent's table, or of the item
	places     uint8    // decimal places of a decimal stored in value
	state      state
}

type state uint8

const (
	isPresent state = 1 << iota // given and not null
	isBroken                    // has a shape violation
	isEscaped                   // a string with escapes
	isCounted                   // a decimal stored in value and places, written without an exponent
)

// absent is the node of every value that is not there.
var absent = &Node{typ: &Type{}}

// Field returns a member of an object. A name that the table does not declare is
// a programming error and returns the absent node; a test checks all names
// against the tables.
func (n *Node) Field(name string) *Node {
	if n.typ.Shape != ShapeObject || n.children == nil {
		return absent
	}
	// Objects store only the members that were sent: otherwise many empty objects
	// would take a hundred times their own size.
	i := n.typ.Table.find(name)
	if i < 0 {
		return absent
	}
	if len(n.typ.Table.Fields) > manyFields {
		return n.search(i)
	}
	given, its := uint64(n.value), uint64(1)<<(i&63) //nolint:gosec // the bits
	if given&its == 0 {
		return absent
	}
	return (*n.children)[bits.OnesCount64(given&(its-1))]
}

// search finds the member of an object with many fields. Members are in table
// order.
func (n *Node) search(field int) *Node {
	at, found := slices.BinarySearchFunc(*n.children, field, func(member *Node, field int) int { return int(member.index) - field })
	if !found {
		return absent
	}
	return (*n.children)[at]
}

// Members returns the members of an object that were sent.
func (n *Node) Members() []*Node {
	if n.typ.Shape != ShapeObject || n.children == nil {
		return nil
	}
	return *n.children
}

// Items returns the items of a list.
func (n *Node) Items() []*Node {
	if n.typ.Shape != ShapeList || n.children == nil {
		return nil
	}
	return *n.children
}

// Present reports whether a value was given. null counts as not given.
func (n *Node) Present() bool { return n.state&isPresent != 0 }

// Valid reports whether a value was given and has the declared shape. It does
// not look at the members of an object or list.
func (n *Node) Valid() bool { return n.state&(isPresent|isBroken) == isPresent }

// Text returns a string, or any other scalar as it was written. Objects, lists
// and AnyJSON values only have Raw.
func (n *Node) Text() string {
	if !n.Valid() || n.typ.Shape >= ShapeObject {
		return ""
	}
	return n.plain()
}

// Bool returns a boolean.
func (n *Node) Bool() bool { return n.typ.Shape == ShapeBoolean && n.Valid() && n.value != 0 }

// Int returns an integer.
func (n *Node) Int() int64 { return n.valueOf(ShapeInteger) }

// Amount returns an amount of money.
func (n *Node) Amount() money.Amount { return money.Amount(n.valueOf(ShapeAmount)) }

// Sum returns a sum of money.
func (n *Node) Sum() money.Total {
	digits, err := n.digits()
	if !n.Valid() || err != nil {
		return money.Total{}
	}
	sum, _ := money.ParseSum(digits) // it was parsed before
	return sum
}

// Decimal returns an exact number that keeps its digits. It also works for
// amounts.
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

// Day returns a date.
func (n *Node) Day() calendar.Day { return calendar.DayFromNumber(n.valueOf(ShapeDate)) }

// Instant returns a datetime in UTC.
func (n *Node) Instant() time.Time {
	if !n.Valid() || n.typ.Shape != ShapeDatetime {
		return time.Time{}
	}
	return time.Unix(n.value, 0).UTC()
}

// Raw returns the JSON of the value exactly as sent.
func (n *Node) Raw() string {
	if !n.Present() {
		return ""
	}
	return n.doc.text[n.start:n.end]
}

// Attr returns the dotted path, "" for the outermost object.
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

// digits returns a number without its exponent.
func (n *Node) digits() (string, error) {
	if n.doc.text[n.start] == '"' {
		return n.plain(), nil
	}
	return money.Plain(n.plain())
}

// plain returns a string without quotes and escapes, or any other value as sent.
// Only a string with escapes is copied.
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

// Table returns the table of an object, or nil for any other value.
func (n *Node) Table() *Table {
	if n.typ.Shape != ShapeObject {
		return nil
	}
	return n.typ.Table
}

// Compare compares two dates or two datetimes. It is negative if n is earlier. A
// date and a datetime compare by day.
func (n *Node) Compare(other *Node) int {
	if n.typ.Shape == ShapeDatetime && other.typ.Shape == ShapeDatetime {
		return n.Instant().Compare(other.Instant())
	}
	return n.day().Compare(other.day())
}

func (n *Node) day() calendar.Day {
	if n.typ.Shape == ShapeDatetime {
		return calendar.DayOf(n.Instant(), time.UTC)
	}
	return n.Day()
}
