package convert

import (
	"slices"
	"strings"

	"landfall/internal/api/contract"
	"landfall/internal/api/rules"
)

// tableKind is a subject that a table can have, or a part of its rows.
type tableKind struct {
	name    string
	words   string // words in the names of such tables; several joined by _ are one phrase
	stem    string // file of the book
	attr    string // the attr of the parent that holds it
	parent  *tableKind
	object  *rules.Table
	anchors string // attrs of which such a row has at least one
	context string // words that say nothing new in such a table
	single  bool   // an object, not a list
	within  string // the attr of an account that can hold it as well
	phrases map[string][]attrPhrase
}

// tableKinds lists the kinds, parents before their children. Their objects have the fields of packs.
func tableKinds(schema *contract.Schema) []*tableKind {
	item := func(stem string) *rules.Table { return itemList(schema.BookTable(stem)).Item.Table }
	kinds := []*tableKind{
		{name: "accounts", words: "account", stem: "accounts", object: schema.BookTable("accounts"), context: "account customer",
			anchors: "transfer_balance last_statement_balance billing_name billing_address1 account_type currency billing_postcode last_statement_issue_date last_statement_closing_date"},
		{name: "notes", words: "note description", stem: "notes", object: item("notes"), anchors: "body", context: "note", within: "notes"},
		{name: "statements", words: "bill", stem: "statements", object: item("statements"), anchors: "bill_period_to_date bill_period_from_date", context: "bill", within: "statements"},
		{name: "transactions", words: "transaction payment", stem: "transactions", object: item("transactions"), anchors: "amount",
			context: "transaction payment", within: "current_statement_transactions"},
		{name: "instructions", words: "mandate direct_debit", stem: "payment-instructions", object: schema.BookTable("payment-instructions"),
			anchors: "reference", context: "mandate direct debit payment", within: "payment_instructions"},
	}
	inner := func(parent, name, attr, words, anchors, context string) {
		at := slices.IndexFunc(kinds, func(kind *tableKind) bool { return kind.name == parent })
		kind := &tableKind{name: name, attr: attr, parent: kinds[at], words: words, anchors: anchors, context: context}
		field, _ := findField(kinds[at].object, attr)
		if kind.object = field.Type.Table; field.Type.Item != nil {
			kind.object = field.Type.Item.Table
		}
		kind.single = field.Type.Item == nil
		kinds = append(kinds, kind)
	}
	inner("accounts", "customers", "customers", "customer", "given_name family_name", "customer")
	inner("accounts", "billing options", "account_billing_options", "", "period_length period_start_day", "bill")
	inner("accounts", "addresses", "supply_addresses", "address premise", "supply_address1 supply_postcode", "supply premise address point")
	inner("accounts", "schedules", "payment_schedules", "schedule", "frequency day_of_month", "schedule payment")
	inner("accounts", "mandates", "payment_instructions", "", "reference", "")
	inner("customers", "preferences", "customer_preferences", "", "opted_into_sms opted_into_offers opted_into_updates", "")
	inner("addresses", "supply points", "supply_points", "point supply supply_point meter_point", "identifier", "supply point")
	inner("supply points", "agreements", "agreements", "agreement tariff", "product_code", "agreement tariff")
	inner("supply points", "meters", "meters", "meter", "serial_number", "meter")
	inner("meters", "registers", "registers", "register", "register_id", "register meter")
	inner("registers", "readings", "transfer_readings", "reading", "reading_value", "reading register meter")
	inner("transactions", "line items", "line_items", "item line bill_line charge_line", "number_of_units", "item line")
	inner("transactions", "tax items", "tax_items", "tax", "value_taxed", "tax")
	return kinds
}

// isInside reports whether a kind can be part of another.
func (k *tableKind) isInside(outer *tableKind) bool {
	for up := k.parent; up != nil; up = up.parent {
		if up == outer {
			return true
		}
	}
	return false
}

// pathFrom returns the attrs that lead from an outer kind to this one.
func (k *tableKind) pathFrom(outer *tableKind) (path []*tableKind) {
	for up := k; up != outer && up != nil; up = up.parent {
		path = append(path, up)
	}
	slices.Reverse(path)
	return path
}

// attrWords are phrases that old systems use for attrs, beside the attr's own name. A phrase is made
// of the plain words of the dictionary. A kind before the attr limits it to that kind. After ~ is a
// phrase that more often means something else, and after ? one that is only worth a mention.
var attrWords = map[string]string{
	"account":                              "account number, account reference, account, customer account, customer account number, ~customer number, ~customer code, ~agreement number, ~agreement reference",
	"given_name":                           "first name, first",
	"family_name":                          "last name, last, name",
	"title":                                "title, salutation",
	"email":                                "email, mailing email, mailing, mailing address",
	"billing_email":                        "bill email, ~email",
	"mobile":                               "mobile, mobile phone, mobile number, mobile phone number, phone mobile",
	"landline":                             "phone, phone number, home phone, home phone number, home, phone home",
	"date_of_birth":                        "birth",
	"role":                                 "role, customer role, customer type",
	"user_identifier":                      "customer number, customer reference",
	"billing_name":                         "name, bill name, account name, mailing name, company name, company, full name",
	"billing_address1":                     "street, home street, address 1, address line 1, address, bill address 1, bill address line 1, bill street, bill address, mailing address 1, mailing address line 1, mailing address, mailing street, mailing 1",
	"billing_address2":                     "address 2, address line 2, ~city, bill address 2, bill address line 2, ~bill city, ~bill address city, ~mailing address city, mailing address 2, mailing address line 2, ~mailing city",
	"billing_address3":                     "address 3, address line 3, county, ~city, ~bill city, ~mailing city, bill address 3, bill address line 3, bill county, mailing address 3, mailing address line 3, mailing county, ~bill address city, ~mailing address city",
	"billing_address4":                     "address 4, address line 4, bill address 4, mailing address 4, ~county, ~bill county, ~mailing county",
	"billing_address5":                     "address 5, address line 5, bill address 5, mailing address 5",
	"billing_postcode":                     "postcode, bill postcode, mailing postcode, address postcode, bill address postcode, mailing address postcode, ~mailing",
	"supply_address1":                      "street, home street, address 1, address line 1, address, supply address 1, premise address 1, supply address line 1, premise address line 1, supply street, premise street, supply 1",
	"supply_address2":                      "address 2, address line 2, ~city, supply address 2, premise address 2, supply address line 2, premise address line 2, ~supply city, ~supply address city, ~premise address city, ~premise city",
	"supply_address3":                      "address 3, address line 3, county, ~city, ~supply city, ~premise city, supply address 3, premise address 3, supply address line 3, premise address line 3, premise county, supply county, ~supply address city, ~premise address city",
	"supply_address4":                      "address 4, address line 4, supply address 4, ~county, ~supply county, ~premise county",
	"supply_address5":                      "address 5, address line 5",
	"supply_postcode":                      "postcode, supply postcode, premise postcode, supply address postcode, premise address postcode, address postcode, ~mailing",
	"property_external_identifier":         "premise number, premise reference",
	"customer_at_supply_address_from_date": "move in, move in date",
	"account_type":                         "type, account type, customer type",
	"currency":                             "currency, current",
	"company_number":                       "company number, register number, company register number",
	"date_of_sale":                         "sale, sale date, ?signup, ?sign up, ?opened, ?open, ?customer move in, ?agreement date",
	"language_preference":                  "language, preference language",
	"communication_preference":             "communication, communication preference, preference communication, paperless, customer method, letter email, bill method",
	"sales_channel":                        "channel, sale channel",
	"transfer_balance":                     "balance, current balance, balance due, current balance due, open balance, balance amount, current balance amount, closing balance, account balance",
	"last_statement_balance":               "last balance, bill balance, last bill balance, last bill balance amount",
	"last_statement_closing_date":          "bill closing, bill closing date, last bill closing, last bill end date",
	"last_statement_issue_date":            "issue, issue date, last bill, last bill date, last issue date, last bill issue date",
	"last_billed_to_date":                  "bill end, bill end date, last bill end, last read bill",
	"next_bill_due_date":                   "next bill, next bill date, next bill due",
	"identifier":                           "market point number, ~point number, supply number, supply point number, supply point, supply reference",
	"supply_type":                          "fuel, fuel type, supply type, point type, meter point type, supply fuel, tariff type, type, supply",
	"supply_start_date":                    "start, start date, supply start, supply start date, active start, move in, move in date, move in supply",
	"supply_end_date":                      "end, end date, supply end, supply end date, active end, move out, move out date",
	"product_code":                         "tariff, tariff code, rate code, price tariff, agreement tariff, tariff type, tariff number, ~tariff name",
	"effective_from":                       "start, start date, effective start, effective start date, agreement start, tariff start",
	"effective_to":                         "end, end date, effective end, effective end date, agreement end, tariff end",
	"agreed_at":                            "agreement date, signed date",
	"serial_number":                        "meter serial number, meter serial, serial, serial number, meter, meter number",
	"installed_on":                         "install, install date, meter install date",
	"removed_on":                           "remove, remove date, meter remove date",
	"register_id":                          "register, register number, meter register number",
	"number_of_digits":                     "digits, register digits",
	"reading_date":                         "reading date, date, reading of, ~reading",
	"reading_type":                         "reading type, reading code, type, reading source, reading method, reading how",
	"reading_value":                        "reading, current reading, reading amount, reading value, reading register, value, amount",
	"transaction_id":                       "transaction number, number, payment number, transaction reference, payment reference, reference number, name",
	"transaction_date":                     "date, transaction date, payment date, start date, effective date, amount date, payment of, transaction of, date payment, payment on, mailing date, value date, ~payment",
	"transactions.amount":                  "amount, transaction amount, payment amount, total amount, total, current amount, method amount",
	"transactions.type":                    "type, transaction type, transaction code, ~code",
	"reason":                               "reason, reason code",
	"transactions.reference":               "reference, payment reference, external reference, bill reference, biller reference",
	"payment_type":                         "payment method, method, payment type, payment how, payment channel",
	"display_note":                         "description, note, note description, transaction description, bill description, item description",
	"rate_band":                            "code, ~rate, ~description, rate code",
	"line items.start_date":                "start, start date, period start",
	"line items.end_date":                  "end, end date, period end",
	"number_of_units":                      "quantity",
	"price_per_unit":                       "price, price quantity, ~rate",
	"net_amount":                           "net, net amount, amount",
	"tax items.amount":                     "tax amount, amount",
	"tax_type":                             "tax type, type, tax",
	"value_taxed":                          "net, net amount, taxable amount",
	"rate":                                 "rate, tax rate",
	"body":                                 "note, description, note description, note body, body",
	"created_at":                           "created, created time, created date, time, date, note date, note time",
	"is_pinned":                            "pinned",
	"statement_id":                         "bill number, number, bill reference",
	"bill_period_from_date":                "start, of, start date, period start, period start date, bill start, bill start date, bill period start",
	"bill_period_to_date":                  "end, end date, period end, period end date, bill end, bill end date, bill period end",
	"issued_date":                          "issue, issue date, bill date, bill issue date, date",
	"number":                               "bill number, number",
	"gross_amount":                         "total, total amount, amount, bill amount, bill total, amount total, bill total amount",
	"statement_path":                       "document, bill document, document document, document name",
	"schedules.start_date":                 "start, start date, schedule start, schedule start date, ~schedule date",
	"schedules.end_date":                   "end, end date, schedule end, schedule end date",
	"schedules.amount":                     "amount, schedule amount, payment amount, month amount",
	"day_of_month":                         "date of month, payment date, date, schedule date",
	"frequency":                            "frequency, schedule frequency, payment frequency",
	"trigger":                              "trigger",
	"period_length":                        "bill frequency, bill period, frequency, period",
	"period_start_day":                     "bill date, cycle date",
	"opted_into_sms":                       "sms", "opted_into_offers": "offers, marketing, marketing preference", "opted_into_updates": "updates, news",
	"instructions.reference": "direct debit reference, mandate reference, direct debit number, mandate number, reference, mandate, direct debit mandate, direct debit mandate number",
	"valid_from":             "start, start date, direct debit start, mandate start, mandate date",
	"mandates.reference":     "direct debit reference, mandate reference, direct debit number, mandate number, mandate, direct debit mandate, direct debit mandate number",
	"mandates.vendor":        "direct debit vendor, mandate vendor", "mandates.valid_from": "direct debit start, mandate start, mandate date, direct debit date",
	"mandates.type": "mandate type", "document_accessibility": "format, accessibility, document format",
	"vendor":            "vendor, bank",
	"instructions.type": "type, payment type, payment method",
}

// attrPhrase is a phrase for an attr.
type attrPhrase struct {
	words  []string
	weight float64
}

// phrasesFor returns the phrases of an attr, the attr's own name first.
func (k *tableKind) phrasesFor(attr string) []attrPhrase {
	if list, known := k.phrases[attr]; known {
		return list
	}
	list := []attrPhrase{{nameWords(attr), 1}}
	if k.name == "mandates" { // its attrs have names that many columns have
		list = nil
	}
	words, known := attrWords[k.name+"."+attr]
	if !known {
		words = attrWords[attr]
	}
	for phrase := range strings.SplitSeq(words, ",") {
		weight := 1.0
		phrase, weak := strings.CutPrefix(strings.TrimSpace(phrase), "~")
		if weak {
			weight = 0.9
		}
		phrase, doubtful := strings.CutPrefix(phrase, "?")
		if doubtful {
			weight = 0.6
		}
		if words := strings.Fields(phrase); len(words) > 0 {
			list = append(list, attrPhrase{words, weight})
		}
	}
	if k.phrases == nil {
		k.phrases = map[string][]attrPhrase{}
	}
	k.phrases[attr] = list
	return list
}
