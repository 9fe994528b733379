package contract

import (
	"strings"

	"landfall/internal/api/rules"
)

// supplyAddresses checks every address and supply point, and that each is unique
// within the account.
func (c *checker) supplyAddresses(list *rules.Node) {
	var addresses seenSet[string]
	var points seenSet[stringPair]
	several := len(list.Items()) > 1
	for _, address := range list.Items() {
		c.address(address, &supplyAddressNames, CodeSupplyAddressTwice)
		if several {
			if text := addressText(address); text != "" && !addresses.add(text) {
				c.violate(CodeDuplicateSupplyAddresses, address)
			}
		}
		for _, point := range pointsOf(address) {
			c.identifier(either(point, "identifier", "mpxn"))
			if identifier := either(point, "identifier", "mpxn"); !addPair(&points, point.Field("supply_type"), identifier) {
				c.violate(CodeDuplicateSupplyPoints, identifier)
			}
			c.supplyPoint(point)
		}
	}
}

// supplyPoint checks the periods of a supply point, its agreements and its
// meters.
func (c *checker) supplyPoint(n *rules.Node) {
	c.period(n, "supply_start_date", "supply_end_date")
	agreements := n.Field("agreements")
	for _, agreement := range agreements.Items() {
		c.period(agreement, "effective_from", "effective_to")
	}
	c.agreements(agreements)
	for _, meter := range n.Field("meters").Items() {
		c.period(meter, "installed_on", "removed_on")
		c.identifier(either(meter, "serial_number", "meter_serial_number"))
	}
}

// agreements requires the agreements of a supply point to follow each other. The
// end of an agreement is exclusive: the next one starts on that day.
func (c *checker) agreements(list *rules.Node) {
	sorted := spans(list.Items(), "effective_from", "effective_to")
	for i := 1; i < len(sorted); i++ {
		reached, next := sorted[i-1].to, sorted[i]
		switch {
		case reached.IsZero() || next.from.Before(reached):
			c.violate(CodeAgreementOverlap, next.start)
		case next.from.After(reached):
			c.violate(CodeAgreementGap, next.start)
		}
		sorted[i].reach(reached)
	}
}

// addressText normalises an address, so that equal addresses compare equal: case
// and white space do not matter, the form does.
func addressText(n *rules.Node) string {
	var text strings.Builder
	add := func(mark byte, node *rules.Node) {
		if value := strings.Join(strings.Fields(strings.ToLower(node.Text())), " "); value != "" {
			text.WriteByte(mark)
			text.WriteString(value)
		}
	}
	for i, name := range supplyAddressNames.lines {
		add(byte(i), n.Field(name))
	}
	add('p', n.Field(supplyAddressNames.postcode))
	structured := n.Field(supplyAddressNames.structured)
	for i, field := range addressTable.Fields {
		add(byte(0x10+i), structured.Field(field.Name))
	}
	return text.String()
}
