package contract

import (
	"strings"

	"landfall/internal/api/rules"
	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// account applies all cross-field rules of an account.
func (c *checker) account(document *rules.Document) {
	root := document.Root()
	c.withCurrency(root.Field("currency").Text())
	c.identifier(root.Field("external_account_number"))
	c.occupier(root)
	c.accountKind(root)
	c.billing(root)
	c.dates(root)
	c.metadata(root)
	c.consents(root)
	c.references(root)
	c.supplyAddresses(root.Field("supply_addresses"))
	c.books(root)
	c.statements(root.Field("statements"))
	c.notes(root.Field("notes"))
	c.instructions(root.Field("payment_instructions"))
	c.paymentSchedules(root.Field("payment_schedules"))
	c.decimals(document)
}

// occupier requires customers unless the occupier is unknown.
func (c *checker) occupier(root *rules.Node) {
	customers, unknown := root.Field("customers"), root.Field("unknown_occupier")
	if customers.Present() && !customers.Valid() || unknown.Present() && !unknown.Valid() {
		return
	}
	switch some := len(customers.Items()) > 0; {
	case !customers.Present() && c.requires(root, "customers"): // reported already
	case !some && !unknown.Bool():
		c.violateField(CodeCustomersRequired, root, "customers")
	case some && unknown.Bool():
		c.violate(CodeCustomerWithUnknownOccupier, customers)
	}
}

// accountKind applies the rules that depend on the account type, and those of
// its customers.
func (c *checker) accountKind(root *rules.Node) {
	given := root.Field("account_type")
	domestic := !given.Present() || strings.HasPrefix(given.Text(), "DOMESTIC")
	if domestic {
		for _, name := range []string{"business_type", "company_number"} {
			if field := root.Field(name); field.Text() != "" {
				c.violate(CodeBusinessFields, field)
			}
		}
	}
	var people, documents seenSet[string]
	several := len(root.Field("customers").Items()) > 1
	for _, customer := range root.Field("customers").Items() {
		c.customer(customer, domestic)
		if several && customer.Valid() {
			id := customer.Field("user_identifier").Text()
			if twice := id != "" && !people.add(id); !documents.add(customer.Raw()) || twice {
				c.violate(CodeDuplicateCustomers, customer)
			}
		}
	}
}

func (c *checker) customer(n *rules.Node, domestic bool) {
	if !n.Valid() {
		return
	}
	name := n.Field("family_name")
	if domestic && (!name.Present() || name.Valid() && strings.TrimSpace(name.Text()) == "") {
		c.violateField(CodeFamilyNameRequired, n, "family_name")
	}
	c.email(n.Field("email"))
	for _, address := range n.Field("contact_emails").Items() {
		c.email(address)
	}
	c.phone(n.Field("mobile"))
	c.phone(n.Field("landline"))
	for _, alternative := range n.Field("alternative_phone_numbers").Items() {
		c.phone(alternative.Field("phone_number"))
	}
	c.notInFuture(n.Field("date_of_birth"))
	c.consents(n)
	c.metadata(n)
}

func (c *checker) billing(root *rules.Node) {
	currency := root.Field("currency")
	if c.supplierKnown && currency.Valid() && currency.Text() != c.supplier.Currency {
		c.violate(CodeCurrencyMismatch, currency)
	}
	c.email(root.Field("billing_email"))
	c.address(root, &billingAddressNames, CodeBillingAddressTwice)
}

// address checks an address in either form.
func (c *checker) address(n *rules.Node, names *addressNames, twice string) {
	postcode, structured := n.Field(names.postcode), n.Field(names.structured)
	c.postcode(postcode, c.supplier.Region)
	if !structured.Valid() {
		return
	}
	c.postcode(structured.Field("postal_code"), structured.Field("country").Text())
	free := postcode.Text() != ""
	for _, name := range names.lines {
		free = free || n.Field(name).Text() != ""
	}
	if free {
		c.violate(twice, structured)
	}
}

// maxBilledAhead is how many days in advance a customer may have been billed.
const maxBilledAhead = 366

// dates checks the dates of the account.
func (c *checker) dates(root *rules.Node) {
	closing, issued := root.Field("last_statement_closing_date"), root.Field("last_statement_issue_date")
	c.notInFuture(root.Field("date_of_sale"))
	c.notInFuture(closing)
	if billed := root.Field("last_billed_to_date"); billed.Valid() && billed.Day().After(c.today.AddDays(maxBilledAhead)) {
		c.violateWith(CodeDateInFuture, billed, " Billing in advance is accepted up to 366 days ahead.")
	}
	if closing.Valid() && issued.Valid() && issued.Day().Before(closing.Day()) {
		c.violate(CodeIssuedBeforeClosing, issued)
	}
}

// metadata requires unique keys: with two values it would be unclear which one
// applies.
func (c *checker) metadata(n *rules.Node) {
	c.unique(CodeDuplicateMetadata, n.Field("metadata"), "key")
}

// consents requires unique types, and no future dates.
func (c *checker) consents(n *rules.Node) {
	list := n.Field("consents")
	c.unique(CodeDuplicateConsents, list, "type")
	for _, consent := range list.Items() {
		if signed := consent.Field("signed_at"); signed.Valid() && signed.Instant().After(c.now) {
			c.violate(CodeDateInFuture, signed)
		}
	}
}

// references requires unique pairs of namespace and value.
func (c *checker) references(root *rules.Node) {
	var known seenSet[stringPair]
	for _, reference := range root.Field("references").Items() {
		c.identifier(reference.Field("value"))
		if !addPair(&known, reference.Field("namespace"), reference.Field("value")) {
			c.violate(CodeDuplicateReferences, reference)
		}
	}
}

// books checks transactions, closing dates and balances of the account and of
// its ledgers, if a pack has them.
func (c *checker) books(root *rules.Node) {
	var known seenSet[string]
	c.ledger(root, root, "transfer_balance", &known)
	for _, ledger := range root.Field("ledgers").Items() {
		c.ledger(root, ledger, "ledger_balance", &known)
	}
	c.ledgerBalances(root)
	lists := []*rules.Node{root.Field("historical_statement_transactions"), root.Field("current_statement_transactions")}
	for _, ledger := range root.Field("ledgers").Items() {
		lists = append(lists, ledger.Field("historical_statement_transactions"), ledger.Field("current_statement_transactions"))
	}
	c.sums(lists...)
}

// ledger checks the transactions, the closing date and the balances of an account
// or of one of its ledgers.
func (c *checker) ledger(account, root *rules.Node, balance string, known *seenSet[string]) {
	historical := root.Field("historical_statement_transactions")
	current := root.Field("current_statement_transactions")
	c.transactions(historical, known)
	c.transactions(current, known)

	closing, billedTo := root.Field("last_statement_closing_date"), account.Field("last_billed_to_date")
	if len(historical.Items()) > 0 && !closing.Present() && !billedTo.Present() {
		c.violate(CodeHistoricalWithoutClosing, historical)
	}
	c.closedDay(historical, current, lastClosedDay(closing, billedTo))
	for _, transaction := range current.Items() {
		c.notInFuture(transaction.Field("transaction_date"))
	}

	last, transfer := root.Field("last_statement_balance"), root.Field(balance)
	if sum, sound := signedSum(historical); sound && len(historical.Items()) > 0 && last.Valid() && sum != last.Amount() {
		c.violateWith(CodeHistoricalBalance, last, mismatch("They add up to", sum, "the balance is", last.Amount(), last.Amount()-sum))
	}
	if sum, sound := signedSum(current); sound && last.Valid() && transfer.Valid() && last.Amount()+sum != transfer.Amount() {
		c.violateWith(CodeTransferBalance, transfer, mismatch("They add up to", last.Amount()+sum, "the transfer balance is", transfer.Amount(), transfer.Amount()-last.Amount()-sum))
	}
	if last.Valid() && last.Amount() != 0 && !closing.Present() {
		c.violate(CodeBalanceWithoutClosing, last)
	}
}

// closedDay requires historical transactions to be before the end of the last
// closed statement and current ones after it, if that day is known.
func (c *checker) closedDay(historical, current *rules.Node, closed calendar.Day) {
	if closed.IsZero() {
		return
	}
	for _, transaction := range historical.Items() {
		if on := transaction.Field("transaction_date"); on.Valid() && on.Day().After(closed) {
			c.violate(CodeHistoricalAfterClosing, on)
		}
	}
	opening := closed.AddDays(1)
	if opening.After(c.today) { // the open period always includes today
		opening = c.today
	}
	for _, transaction := range current.Items() {
		if on := transaction.Field("transaction_date"); on.Valid() && on.Day().Before(opening) {
			c.violate(CodeCurrentBeforeOpening, on)
		}
	}
}

// lastClosedDay returns the day before the open statement period, or zero if it
// is unknown or invalid.
func lastClosedDay(closing, billedTo *rules.Node) calendar.Day {
	if closing.Present() {
		return closing.Day()
	}
	return billedTo.Day()
}

// signedSum returns the effect of transactions on the balance. It reports false
// if any of them is invalid.
func signedSum(list *rules.Node) (sum money.Amount, sound bool) {
	if list.Present() && !list.Valid() {
		return 0, false
	}
	for _, transaction := range list.Items() {
		if !transaction.Field("amount").Valid() || !transaction.Field("type").Valid() {
			return 0, false
		}
		sum += signedAmount(transaction)
	}
	return sum, true
}
