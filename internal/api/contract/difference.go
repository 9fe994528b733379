package contract

import (
	"strconv"

	"landfall/internal/api/rules"
)

// Differences returns the dotted paths of the fields in which two transactions
// differ. Both are documents as sent. Values are compared by meaning: 5 and 5.00
// are equal, and the order of fields does not matter.
func Differences(earlier, later []byte) []string {
	a, broken := transactionTable.Read(earlier, rules.Limits{})
	b, alsoBroken := transactionTable.Read(later, rules.Limits{})
	if broken != nil || alsoBroken != nil {
		return nil // both were read before, so this cannot happen
	}
	return compareObjects(nil, "", transactionTable, a.Root(), b.Root())
}

// compareObjects compares the declared fields of two objects.
func compareObjects(found []string, prefix string, table *rules.Table, a, b *rules.Node) []string {
	for i := range table.Fields {
		field := &table.Fields[i]
		found = compareValues(found, prefix+field.Name, &field.Type, a.Field(field.Name), b.Field(field.Name))
	}
	return found
}

// compareValues compares values by meaning: 10 and 10.00 are the same amount.
func compareValues(found []string, path string, typ *rules.Type, a, b *rules.Node) []string {
	if a.Present() != b.Present() {
		return append(found, path)
	}
	if !a.Present() {
		return found
	}
	var same bool
	switch typ.Shape {
	case rules.ShapeObject:
		return compareObjects(found, path+".", typ.Table, a, b)
	case rules.ShapeList:
		return compareLists(found, path, typ.Item, a.Items(), b.Items())
	case rules.ShapeAmount:
		same = a.Amount() == b.Amount()
	case rules.ShapeDecimal:
		same = a.Decimal().Compare(b.Decimal()) == 0
	case rules.ShapeDate:
		same = a.Day() == b.Day()
	default:
		same = a.Text() == b.Text()
	}
	if same {
		return found
	}
	return append(found, path)
}

// compareLists compares lists item by item. Items that only one list has differ.
func compareLists(found []string, path string, typ *rules.Type, a, b []*rules.Node) []string {
	for i := range max(len(a), len(b)) {
		item := path + "." + strconv.Itoa(i)
		if i >= len(a) || i >= len(b) {
			found = append(found, item)
			continue
		}
		found = compareValues(found, item, typ, a[i], b[i])
	}
	return found
}
