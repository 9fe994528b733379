package contract

import (
	"landfall"
	"landfall/internal/money"
	"landfall/internal/rules"
)

// Data binds the account to the nouns it is created from. It is right for an
// account that Check found no errors in; of others it gives what was readable.
func (a *Account) Data() landfall.AccountData {
	root := a.document.Root()
	data := landfall.AccountData{
		Key:                    a.Key(),
		Currency:               root.Field("currency").Text(),
		AccountType:            accountType(root),
		BillingName:            root.Field("billing_name").Text(),
		BillingAddress:         bindAddress(root, "billing"),
		LastBilledToOn:         root.Field("last_billed_to_date").Day(),
		LastStatementClosingOn: root.Field("last_statement_closing_date").Day(),
		LastStatementIssuedOn:  root.Field("last_statement_issue_date").Day(),
		NextBillDueOn:          root.Field("next_bill_due_date").Day(),
		LastStatementBalance:   amountOf(root.Field("last_statement_balance")),
		TransferBalance:        amountOf(root.Field("transfer_balance")),
		Customers:              each(root.Field("customers"), bindCustomer),
		SupplyAddresses:        each(root.Field("supply_addresses"), bindSupplyAddress),
		HistoricalTransactions: each(root.Field("historical_statement_transactions"), bindTransaction),
		CurrentTransactions:    each(root.Field("current_statement_transactions"), bindTransaction),
		Statements:             each(root.Field("statements"), bindStatement),
		Notes:                  each(root.Field("notes"), bindNote),
		Instructions:           each(root.Field("payment_instructions"), bindInstruction),
		PaymentSchedules:       each(root.Field("payment_schedules"), bindPaymentSchedule),
		Language:               root.Field("language_preference").Text(),
	}
	return data
}

// each binds the items of a list; an absent list is nil.
func each[T any](list *rules.Node, bind func(*rules.Node) T) []T {
	return eachOf(list.Items(), bind)
}

func eachOf[T any](items []*rules.Node, bind func(*rules.Node) T) []T {
	if len(items) == 0 {
		return nil
	}
	bound := make([]T, len(items))
	for i, item := range items {
		bound[i] = bind(item)
	}
	return bound
}

// accountType fills in the documented default.
func accountType(root *rules.Node) string {
	if given := root.Field("account_type").Text(); given != "" {
		return given
	}
	return "DOMESTIC"
}

// amountOf tells an amount of zero from one that was not given.
func amountOf(node *rules.Node) *money.Amount {
	if !node.Valid() {
		return nil
	}
	amount := node.Amount()
	return &amount
}

// bindCustomer keeps what support looks for; the rest stays in the document.
func bindCustomer(n *rules.Node) landfall.Customer {
	return landfall.Customer{
		GivenName:  n.Field("given_name").Text(),
		FamilyName: n.Field("family_name").Text(),
		Title:      n.Field("title").Text(),
		Email:      n.Field("email").Text(),
		Mobile:     n.Field("mobile").Text(),
		Landline:   n.Field("landline").Text(),
		BornOn:     n.Field("date_of_birth").Day(),
		Role:       n.Field("role").Text(),
		Deceased:   n.Field("deceased").Text() != "",
	}
}

// addressLines names the free-style lines of the two addresses an object may
// carry, so that no name is put together for every account.
var addressLines = map[string][5]string{
	"billing": {"billing_address1", "billing_address2", "billing_address3", "billing_address4", "billing_address5"},
	"supply":  {"supply_address1", "supply_address2", "supply_address3", "supply_address4", "supply_address5"},
}

// structuredLines are the parts of a structured address that have no place of
// their own in the noun, in the order they stand on an envelope.
var structuredLines = []string{"name", "organization", "street_address", "dependent_locality", "administrative_area"}

// bindAddress reads an address in whichever of the two styles it was given.
func bindAddress(n *rules.Node, prefix string) landfall.Address {
	address := landfall.Address{PostalCode: n.Field(prefix + "_postcode").Text()}
	for _, name := range addressLines[prefix] {
		address.Lines = appendLine(address.Lines, n.Field(name))
	}
	if structured := n.Field(prefix + "_address"); structured.Valid() {
		for _, name := range structuredLines {
			address.Lines = appendLine(address.Lines, structured.Field(name))
		}
		address.Locality = structured.Field("locality").Text()
		address.PostalCode = structured.Field("postal_code").Text()
		address.Country = structured.Field("country").Text()
	}
	return address
}

// appendLine leaves empty lines of an address out.
func appendLine(lines []string, node *rules.Node) []string {
	if text := node.Text(); text != "" {
		return append(lines, text)
	}
	return lines
}
