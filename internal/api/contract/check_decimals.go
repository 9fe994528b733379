package contract

import (
	"cmp"
	"strconv"

	"landfall/internal/api/rules"
	"landfall/internal/lib/money"
)

// withCurrency says how many decimals amounts have: those of the account's
// currency, if it has its own, otherwise of the supplier's.
func (c *checker) withCurrency(own string) {
	c.currency = cmp.Or(own, c.supplier.Currency)
	c.places = money.Places(c.currency)
}

// decimals refuses amounts with more decimal places than the currency has: 12.34
// yen is a mistake, or an amount in another currency.
func (c *checker) decimals(document *rules.Document) {
	if c.places >= 3 || c.places == 2 && !document.HasThousandths() {
		return
	}
	c.amountsFit(document.Root(), tooManyDecimals(c.currency))
}

// tooManyDecimals is the detail of an amount that its currency cannot have.
func tooManyDecimals(currency string) string {
	switch money.Places(currency) {
	case 0:
		return "Amounts in " + currency + " have no decimal places."
	case 2:
		return "Must have at most 2 decimal places."
	}
	return "Must have at most 3 decimal places."
}

// amountsFit checks every amount of an object.
func (c *checker) amountsFit(n *rules.Node, detail string) {
	table := n.Table()
	if table == nil {
		for _, item := range n.Items() {
			c.amountsFit(item, detail)
		}
		return
	}
	for i := range table.Fields {
		field := n.Field(table.Fields[i].Name)
		switch table.Fields[i].Type.Shape {
		case rules.ShapeAmount:
			if field.Valid() && !field.Amount().Fits(c.places) {
				c.report.Add(field, rules.CodeMaxDecimalPlaces, detail)
			}
		case rules.ShapeObject, rules.ShapeList:
			if field.Valid() {
				c.amountsFit(field, detail)
			}
		}
	}
}

// sums refuses transactions whose amounts add up to more than a balance can be.
func (c *checker) sums(lists ...*rules.Node) {
	var total money.Total
	for _, list := range lists {
		for _, item := range list.Items() {
			amount := item.Field("amount").Amount()
			total = total.Plus(money.TotalOf(int64(max(amount, -amount))))
			if total.Clamp() > int64(money.MaxSum) {
				c.report.Add(item.Field("amount"), rules.CodeOutOfRange,
					"The amounts up to here add up to more than "+strconv.FormatInt(int64(money.MaxSum/money.Unit), 10)+".")
				return
			}
		}
	}
}
