package contract

import (
	"errors"
	"strconv"
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

// errUnreadable is returned for a document that is not a JSON object.
var errUnreadable = errors.New("the document is not a readable JSON object")

// tableDifferences compares two objects of a table.
func tableDifferences(table *rules.Table, earlier, later []byte) ([]string, error) {
	a, broken := table.Read(earlier, rules.Limits{})
	if broken != nil {
		return nil, errUnreadable
	}
	defer a.Release()
	b, broken := table.Read(later, rules.Limits{})
	if broken != nil {
		return nil, errUnreadable
	}
	defer b.Release()
	var c comparison
	c.objects("", table, a.Root(), b.Root())
	return c.found, nil
}

// comparison collects the paths of what differs.
type comparison struct{ found []string }

// add adds a path, unless there are enough.
func (c *comparison) add(path string) {
	if !c.full() {
		c.found = append(c.found, path)
	}
}

func (c *comparison) full() bool { return len(c.found) >= MaxDifferences }

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
		c.add(path)
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
		if i >= len(a) || i >= len(b) {
			c.add(item)
			continue
		}
		c.values(item, typ, a[i], b[i])
	}
}
