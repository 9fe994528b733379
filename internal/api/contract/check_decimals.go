package contract

import (
	"cmp"

	"landfall/internal/api/rules"
)

// decimals refuses amounts with decimal places in a currency that has none: 12.34
// yen is a mistake, or an amount in another currency. The currency is the
// supplier's unless the account has its own.
func (c *checker) decimals(root *rules.Node, own string) {
	currency := cmp.Or(own, c.supplier.Currency)
	if withoutDecimals[currency] {
		c.wholeAmounts(root, "Amounts in "+currency+" have no decimal places.")
	}
}

// wholeAmounts checks every amount of an object.
func (c *checker) wholeAmounts(n *rules.Node, detail string) {
	table := n.Table()
	if table == nil {
		for _, item := range n.Items() {
			c.wholeAmounts(item, detail)
		}
		return
	}
	for i := range table.Fields {
		field := n.Field(table.Fields[i].Name)
		switch table.Fields[i].Type.Shape {
		case rules.ShapeAmount:
			if field.Valid() && field.Amount()%100 != 0 {
				c.report.Add(field, rules.CodeMaxDecimalPlaces, detail)
			}
		case rules.ShapeObject, rules.ShapeList:
			if field.Valid() {
				c.wholeAmounts(field, detail)
			}
		}
	}
}
