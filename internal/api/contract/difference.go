package contract

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall/internal/api/rules"
)

// MaxDifferences is how many differing attrs are listed at most.
const MaxDifferences = 100

// TransactionDifferences returns the dotted paths of the fields in which two
// transactions differ. Both are documents as sent. Values are compared by
// meaning: 5 and 5.00 are equal, and the order of fields does not matter.
func (s *Schema) TransactionDifferences(earlier, later []byte) []string {
	found, err := tableDifferences(s.transaction(), earlier, later)
	if err != nil {
		return nil // both were read before, so this cannot happen
	}
	return found
}

// transaction returns the table of a transaction, with the fields of packs.
func (s *Schema) transaction() *rules.Table {
	return fieldOf(s.transactions, "transactions").Type.Item.Table
}

// AccountDifferences returns the dotted paths of the fields in which two account
// objects differ, at most MaxDifferences. It never returns values. Values are
// compared by meaning: spelling, white space and the order of members do not
// matter, 5 equals "5.00" where the field is a number, and a datetime equals the
// same instant in another time zone. null means the same as leaving a field out,
// and so does "" where it is not a value. Lists are compared item by item.
func AccountDifferences(earlier, later []byte) ([]string, error) {
	return plainSchema.AccountDifferences(earlier, later)
}

// AccountDifferences compares the fields of the supplier's packs, too.
func (s *Schema) AccountDifferences(earlier, later []byte) ([]string, error) {
	return tableDifferences(s.account, earlier, later)
}

// Difference is a field in which two documents differ.
type Difference struct {
	Attr           string
	Earlier, Later string // text of a single value, else JSON, at most maxShownValue bytes; "" if absent
}

// CompareAccounts returns the fields in which two account objects differ, like
// AccountDifferences, with their values. It also compares fields that it does not
// know, because it does not know which packs the supplier uses.
func CompareAccounts(earlier, later []byte) ([]Difference, error) {
	return compareDocuments(plainSchema.account, earlier, later, true)
}

// CompareTransactions compares two transactions in the same way. The second one
// is as the service returns it, so it may have the date before it was moved.
func CompareTransactions(earlier, later []byte) ([]Difference, error) {
	found, err := compareDocuments(transactionTable, earlier, later, true)
	return slices.DeleteFunc(found, func(one Difference) bool { return one.Attr == "original_transaction_date" }), err
}

// errUnreadable is returned for a document that is not a JSON object.
var errUnreadable = errors.New("the document is not a readable JSON object")

// tableDifferences compares two objects of a table and returns the attrs that
// differ.
func tableDifferences(table *rules.Table, earlier, later []byte) (attrs []string, err error) {
	found, err := compareDocuments(table, earlier, later, false)
	for _, one := range found {
		attrs = append(attrs, one.Attr)
	}
	return attrs, err
}

// compareDocuments compares two objects of a table.
func compareDocuments(table *rules.Table, earlier, later []byte, unknown bool) ([]Difference, error) {
	limits := rules.Limits{}
	if unknown {
		limits.Violations = maxUnknownFields
	}
	a, broken := table.Read(earlier, limits)
	if broken != nil {
		return nil, errUnreadable
	}
	defer a.Release()
	b, broken := table.Read(later, limits)
	if broken != nil {
		return nil, errUnreadable
	}
	defer b.Release()
	var c comparison
	c.objects("", table, a.Root(), b.Root())
	if unknown {
		c.unknownFields(a, b, earlier, later)
	}
	return c.found, nil
}

// comparison collects what differs.
type comparison struct{ found []Difference }

// add adds a field, unless there are enough.
func (c *comparison) add(path string, a, b *rules.Node) {
	if !c.full() {
		c.found = append(c.found, Difference{path, shownValue(a), shownValue(b)})
	}
}

func (c *comparison) full() bool { return len(c.found) >= MaxDifferences }

// maxShownValue limits the values of differences.
const maxShownValue = 1_000

// shownValue returns the text of a value, or its JSON if it has parts.
func shownValue(n *rules.Node) string {
	text := n.Text()
	if text == "" {
		text = n.Raw()
	}
	return shortened(text)
}

func shortened(text string) string {
	if len(text) <= maxShownValue {
		return text
	}
	return strings.ToValidUTF8(text[:maxShownValue], "") + "…"
}

// maxUnknownFields is more than the packs of one account fill.
const maxUnknownFields = 10_000

// unknownFields compares the fields that the table does not declare.
func (c *comparison) unknownFields(a, b *rules.Document, earlier, later []byte) {
	compared := map[string]bool{}
	for _, document := range []*rules.Document{a, b} {
		for _, violation := range document.Report().Errors() {
			attr := violation.Attr
			if violation.Code != rules.CodeUnknownField || compared[attr] || c.full() {
				continue
			}
			compared[attr] = true
			if x, y := rawAt(earlier, attr), rawAt(later, attr); !rules.SameJSON(x, y) {
				c.found = append(c.found, Difference{attr, shortened(x), shortened(y)})
			}
		}
	}
}

// ValueAt returns the value of an attr in a document: the text of a string, else
// JSON; "" if there is none.
func ValueAt(document []byte, attr string) string {
	raw := rawAt(document, attr)
	var text string
	if json.Unmarshal([]byte(raw), &text) == nil {
		raw = text
	}
	return shortened(raw)
}

// rawAt returns the JSON at a dotted path; "" if there is none, or null.
func rawAt(document json.RawMessage, attr string) string {
	for name := range strings.SplitSeq(attr, ".") {
		var list []json.RawMessage
		var object map[string]json.RawMessage
		if at, err := strconv.Atoi(name); err == nil && json.Unmarshal(document, &list) == nil {
			if at >= len(list) {
				return ""
			}
			document = list[at]
			continue
		}
		if json.Unmarshal(document, &object) != nil {
			return ""
		}
		document = object[name]
	}
	if string(document) == "null" {
		return ""
	}
	return string(document)
}

// objects compares the declared fields of two objects.
func (c *comparison) objects(prefix string, table *rules.Table, a, b *rules.Node) {
	for i := range table.Fields {
		field := &table.Fields[i]
		x, y := a.Field(field.Name), b.Field(field.Name)
		if x.Present() || y.Present() {
			c.values(prefix+field.Name, &field.Type, x, y)
		}
		if c.full() {
			return
		}
	}
}

// values compares values by meaning: 10 and 10.00 are the same amount.
func (c *comparison) values(path string, typ *rules.Type, a, b *rules.Node) {
	switch {
	case !a.Present() && !b.Present():
	case a.Valid() && b.Valid() && typ.Shape == rules.ShapeObject:
		c.objects(path+".", typ.Table, a, b)
	case a.Valid() && b.Valid() && typ.Shape == rules.ShapeList:
		c.lists(path, typ.Item, a.Items(), b.Items())
	case !sameScalar(typ, a, b):
		c.add(path, a, b)
	}
}

// sameScalar compares values without parts. A value that does not have the
// declared shape was accepted by other rules; then the JSON is compared.
func sameScalar(typ *rules.Type, a, b *rules.Node) bool {
	if a.Present() != b.Present() {
		return false
	}
	if !a.Valid() || !b.Valid() {
		return rules.SameJSON(a.Raw(), b.Raw())
	}
	switch typ.Shape {
	case rules.ShapeAny:
		return rules.SameJSON(a.Raw(), b.Raw())
	case rules.ShapeBoolean:
		return a.Bool() == b.Bool()
	case rules.ShapeInteger:
		return a.Int() == b.Int()
	case rules.ShapeAmount:
		return a.Amount() == b.Amount()
	case rules.ShapeDecimal:
		return a.Decimal().Compare(b.Decimal()) == 0
	case rules.ShapeDate:
		return a.Day() == b.Day()
	case rules.ShapeDatetime:
		return sameInstant(a.Text(), b.Text())
	}
	return a.Text() == b.Text()
}

// sameInstant compares datetimes with their fractions of a second, which the
// rows of an account do not have but its record does.
func sameInstant(a, b string) bool {
	x, err := time.Parse(time.RFC3339Nano, a)
	y, alsoErr := time.Parse(time.RFC3339Nano, b)
	return a == b || err == nil && alsoErr == nil && x.Equal(y)
}

// lists compares lists item by item. Items that only one list has differ.
func (c *comparison) lists(path string, typ *rules.Type, a, b []*rules.Node) {
	for i := 0; i < max(len(a), len(b)) && !c.full(); i++ {
		item := path + "." + strconv.Itoa(i)
		switch {
		case i >= len(a):
			c.add(item, &rules.Node{}, b[i])
		case i >= len(b):
			c.add(item, a[i], &rules.Node{})
		default:
			c.values(item, typ, a[i], b[i])
		}
	}
}
