package contract

import (
	"slices"

	"landfall"
	"landfall/internal/api/rules"
)

// addressNames are the field names of one of the two addresses an object may
// have, so that names are not concatenated for every account.
type addressNames struct {
	lines                [5]string // free form, used with the postcode
	postcode, structured string
}

var (
	billingAddressNames = addressNames{
		lines:    [5]string{"billing_address1", "billing_address2", "billing_address3", "billing_address4", "billing_address5"},
		postcode: "billing_postcode", structured: "billing_address",
	}
	supplyAddressNames = addressNames{
		lines:    [5]string{"supply_address1", "supply_address2", "supply_address3", "supply_address4", "supply_address5"},
		postcode: "supply_postcode", structured: "supply_address",
	}
)

// structuredLines are the parts of a structured address that have no field of
// their own in landfall.Address, in the order of an envelope.
var structuredLines = [...]string{"name", "organization", "street_address", "dependent_locality", "administrative_area"}

// bindAddress reads an address in either form.
func bindAddress(n *rules.Node, names *addressNames) landfall.Address {
	address := landfall.Address{PostalCode: n.Field(names.postcode).Text()}
	var lines [len(names.lines) + len(structuredLines)]string
	count := 0
	take := func(node *rules.Node) {
		if text := node.Text(); text != "" { // empty lines are left out
			lines[count] = text
			count++
		}
	}
	for _, name := range names.lines {
		take(n.Field(name))
	}
	if structured := n.Field(names.structured); structured.Valid() {
		for _, name := range structuredLines {
			take(structured.Field(name))
		}
		address.Locality = structured.Field("locality").Text()
		address.PostalCode = structured.Field("postal_code").Text()
		address.Country = structured.Field("country").Text()
	}
	if count > 0 {
		address.Lines = slices.Clone(lines[:count])
	}
	return address
}
