package contract

import (
	"fmt"
	"slices"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// transactions checks each transaction of a list. Identifiers must not be in
// known already; nil skips that check.
func (c *checker) transactions(list *rules.Node, known *seenSet[string]) {
	for _, transaction := range list.Items() {
		c.identifier(transaction.Field("transaction_id"))
		if known != nil {
			c.checkUnseen(known, landfall.CodeDuplicateTransactions, transaction.Field("transaction_id"))
		}
		c.transactionType(transaction)
		c.items(transaction)
	}
}

// transactionType checks what the type requires. Like other required fields,
// these are always errors.
func (c *checker) transactionType(n *rules.Node) {
	switch landfall.TransactionType(n.Field("type").Text()) {
	case landfall.Charge, landfall.Credit:
		c.needs(n, "reason")
	case landfall.SupplyCharge:
		c.needs(n, "product_code")
		if items := n.Field("line_items"); !items.Present() || items.Valid() && len(items.Items()) == 0 {
			c.report.AddField(n, "line_items", rules.CodeRequired, "Transactions of this type require at least one line item.")
		}
	case landfall.Payment, landfall.Repayment:
		if amount := n.Field("amount"); amount.Valid() && amount.Amount() <= 0 {
			c.report.Add(amount, rules.CodeOutOfRange, "Must be greater than zero for payments and repayments.")
		}
	}
}

// needs requires a field that only some transaction types have.
func (c *checker) needs(n *rules.Node, field string) {
	if !n.Field(field).Present() {
		c.report.AddField(n, field, rules.CodeRequired, "Required for transactions of this type.")
	}
}

// items checks the arithmetic of line and tax items.
func (c *checker) items(n *rules.Node) {
	lines, taxes, amount := n.Field("line_items"), n.Field("tax_items"), n.Field("amount")
	if len(lines.Items()) == 0 && len(taxes.Items()) == 0 {
		return
	}
	var sum money.Decimal
	sound := amount.Valid()
	for _, line := range lines.Items() {
		c.lineItem(line)
		net := line.Field("net_amount")
		sound = sound && net.Valid()
		sum = sum.Add(net.Decimal())
	}
	for _, tax := range taxes.Items() {
		c.taxItem(tax)
		value := tax.Field("amount")
		sound = sound && value.Valid()
		sum = sum.Add(value.Decimal())
	}
	if rounded, err := sum.Round(c.places); sound && len(lines.Items()) > 0 && (err != nil || rounded != amount.Amount()) {
		c.violateWith(CodeItemsSum, amount, mismatch("They add up to", sum, "the amount is", amount.Decimal(), amount.Decimal().Sub(sum)))
	}
}

// lineItem allows the product of price and units to be rounded either way.
func (c *checker) lineItem(n *rules.Node) {
	c.period(n, "start_date", "end_date")
	price, count, net := n.Field("price_per_unit"), n.Field("number_of_units"), n.Field("net_amount")
	if price.Valid() && count.Valid() && net.Valid() {
		product := price.Decimal().Mul(count.Decimal())
		if !product.Near(net.Decimal(), money.MinorUnit(c.places)) {
			c.violateWith(CodeLineItemNet, net, mismatch("The product is", product, "the net amount is", net.Decimal(), net.Decimal().Sub(product)))
		}
	}
	if units := n.Field("units"); units.Valid() && len(units.Items()) != 2 {
		c.violate(CodeUnits, units)
	}
}

// taxItem allows a tax to be rounded either way, but not to be off by a whole
// minor unit.
func (c *checker) taxItem(n *rules.Node) {
	value, rate, amount := n.Field("value_taxed"), n.Field("rate"), n.Field("amount")
	if n.Field("unit_type").Text() != "PROPORTION" || !value.Valid() || !rate.Valid() || !amount.Valid() {
		return
	}
	product := value.Decimal().Mul(rate.Decimal())
	off := product.Sub(amount.Decimal())
	if unit := money.MinorUnit(c.places); off.Compare(unit.Decimal()) >= 0 || off.Compare((-unit).Decimal()) <= 0 {
		c.violateWith(CodeTaxAmount, amount, mismatch("The product is", product, "the tax is", amount.Decimal(), amount.Decimal().Sub(product)))
	}
}

// mismatch says how two figures that should be equal differ: computed is the
// first, given the second, and the difference the second minus the first.
func mismatch(computed string, a fmt.Stringer, given string, b, difference fmt.Stringer) string {
	return fmt.Sprintf(" %s %s, %s %s, a difference of %s.", computed, a, given, b, difference)
}

// signedAmount returns the effect of a transaction on the balance.
func signedAmount(n *rules.Node) money.Amount {
	return landfall.Transaction{
		Amount: n.Field("amount").Amount(),
		Type:   landfall.TransactionType(n.Field("type").Text()),
	}.Signed()
}

// statements checks historical statements.
func (c *checker) statements(list *rules.Node) {
	c.unique(CodeDuplicateStatements, list, "statement_id")
	for _, statement := range list.Items() {
		c.identifier(statement.Field("statement_id"))
	}
	for _, statement := range list.Items() {
		c.period(statement, "bill_period_from_date", "bill_period_to_date")
		c.path(statement.Field("statement_path"))
		gross := statement.Field("gross_amount")
		if c.supplier.StatementAmounts == landfall.MinorUnits && gross.Valid() && gross.Amount()%money.Unit != 0 {
			c.report.Add(gross, rules.CodeMaxDecimalPlaces, "Must be a whole number of minor units, such as cents: the supplier sends the amounts of statements in them.")
		}
	}
	c.overlap(CodeStatementOverlap, spans(list.Items(), "bill_period_from_date", "bill_period_to_date"))
}

// instructions requires unique pairs of vendor and reference.
func (c *checker) instructions(list *rules.Node) {
	var known seenSet[stringPair]
	for _, instruction := range list.Items() {
		if reference := instruction.Field("reference"); !addPair(&known, instruction.Field("vendor"), reference) {
			c.violate(CodeDuplicateInstructions, reference)
		}
	}
}

// paymentSchedules checks what each trigger requires, and that schedules do not
// overlap.
func (c *checker) paymentSchedules(list *rules.Node) {
	for _, schedule := range list.Items() {
		c.period(schedule, "start_date", "end_date")
		if !schedule.Field("trigger").Present() && c.requires(schedule, "trigger") {
			continue // reported already
		}
		switch scheduleTrigger(schedule) {
		case "REGULAR":
			c.scheduleNeeds(schedule, "amount", CodeScheduleAmount)
			c.scheduleNeeds(schedule, "frequency", CodeScheduleFrequency)
			if !slices.Contains(weekly, schedule.Field("frequency").Text()) {
				c.scheduleNeeds(schedule, "day_of_month", CodeScheduleDay)
			}
		case "BALANCE":
			c.scheduleNeeds(schedule, "balance_threshold", CodeScheduleThreshold)
		}
	}
	c.scheduleOverlaps(list)
}

// weekly are the frequencies that count weeks, so that they have no day of the
// month.
var weekly = []string{"WEEKLY", "FORTNIGHTLY", "FOUR_WEEKLY"}

// scheduleOverlaps compares the schedules of the same ledger. Repayment of debt is
// collected beside the regular payment.
func (c *checker) scheduleOverlaps(list *rules.Node) {
	if len(list.Items()) < 2 {
		return
	}
	groups := map[stringPair][]*rules.Node{}
	for _, schedule := range list.Items() {
		group := stringPair{schedule.Field("ledger_code").Text(), schedule.Field("is_debt_repayment_plan").Text()}
		groups[group] = append(groups[group], schedule)
	}
	for _, group := range groups {
		c.overlap(CodeScheduleOverlap, spans(group, "start_date", "end_date"))
	}
}

// scheduleNeeds requires a field that only some triggers have.
func (c *checker) scheduleNeeds(n *rules.Node, field, code string) {
	if !n.Field(field).Present() {
		c.violateField(code, n, field)
	}
}

// span is a period of days, both inclusive. A zero end means open.
type span struct {
	start    *rules.Node
	from, to calendar.Day
}

// spans returns the valid periods of a list, sorted by their first day.
func spans(list []*rules.Node, from, to string) []span {
	if len(list) < 2 {
		return nil
	}
	sound := make([]span, 0, len(list))
	for _, n := range list {
		start, end := n.Field(from), n.Field(to)
		if !start.Valid() || end.Present() && (!end.Valid() || end.Day().Before(start.Day())) {
			continue
		}
		sound = append(sound, span{start, start.Day(), end.Day()})
	}
	slices.SortStableFunc(sound, func(a, b span) int { return a.from.Compare(b.from) })
	return sound
}

// overlap reports every period that starts before an earlier one has ended.
func (c *checker) overlap(code string, sorted []span) {
	for i := 1; i < len(sorted); i++ {
		reached := sorted[i-1].to
		if reached.IsZero() || !sorted[i].from.After(reached) {
			c.violate(code, sorted[i].start)
		}
		sorted[i].reach(reached)
	}
}

// reach extends a period to the end of an earlier one, so that a short period
// inside a long one does not hide the end of the long one.
func (s *span) reach(day calendar.Day) {
	if day.IsZero() || !s.to.IsZero() && s.to.Before(day) {
		s.to = day
	}
}
