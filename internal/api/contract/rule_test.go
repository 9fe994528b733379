package contract

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"landfall"
)

// accountJSON adds the members of a case to the smallest account that causes no
// warnings of its own.
func accountJSON(members string) string {
	customers := `"customers":[{"family_name":"Byron"}],`
	if strings.Contains(members, `"customers"`) {
		customers = ""
	}
	return `{"import_supplier":"S","external_account_number":"1",` + customers + strings.TrimSpace(members) + `}`
}

func transactionJSON(list, members string) string {
	return `"` + list + `":[{"transaction_id":"1","transaction_date":"2024-05-01","amount":10,` + members + `}]`
}

func supplyCharge(members string) string {
	return transactionJSON("current_statement_transactions", `"type":"SUPPLY_CHARGE","product_code":"P",`+members)
}

func supplyPoints(list string) string {
	return `"supply_addresses":[{"supply_points":[` + list + `]}]`
}

func agreementsJSON(list string) string {
	return supplyPoints(`{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01","agreements":[` + list + `]}`)
}

const lineJSON = `"rate_band":"R","start_date":"2024-01-01","end_date":"2024-01-31",`

// ruleCases has a violation and a near miss for every rule of the rule book.
var ruleCases = []struct {
	code, attr   string
	broken, fine string
}{
	{CodeCustomersRequired, "customers", `"customers":[]`, `"customers":[],"unknown_occupier":true`},
	{CodeCustomerWithUnknownOccupier, "customers", `"unknown_occupier":true`, `"unknown_occupier":false`},
	{CodeFamilyNameRequired, "customers.0.family_name", `"customers":[{"given_name":"Ada"}]`, `"customers":[{}],"account_type":"BUSINESS"`},
	{CodeFamilyNameRequired, "customers.1.family_name", `"customers":[{"family_name":"B"},{"family_name":" "}]`, `"customers":[{"family_name":"B"}],"account_type":"DOMESTIC"`},
	{CodeDuplicateCustomers, "customers.1", `"customers":[{"family_name":"B","user_identifier":"7"},{"family_name":"C","user_identifier":"7"}]`, `"customers":[{"family_name":"B","user_identifier":"7"},{"family_name":"B","user_identifier":"8"}]`},
	{CodeDuplicateCustomers, "customers.1", `"customers":[{"family_name":"B"},{"family_name":"B"}]`, `"customers":[{"family_name":"B"},{"family_name":"C"}]`},
	{CodeScientificNotation, "references.0.value", `"references":[{"namespace":"a","value":"1.06257E+12"}]`, `"references":[{"namespace":"a","value":"1.06257e+12x"},{"namespace":"a","value":"12E12"}]`},
	{CodeBusinessFields, "business_type", `"business_type":"BAKERY"`, `"business_type":"BAKERY","account_type":"BUSINESS"`},
	{CodeBusinessFields, "company_number", `"account_type":"DOMESTIC","company_number":"1"`, `"company_number":""`},
	{CodeCurrencyMismatch, "currency", `"currency":"EUR"`, `"currency":"GBP"`},
	{CodeBillingAddressTwice, "billing_address", `"billing_address1":"1 High St","billing_address":{"country":"GB"}`, `"billing_address1":"","billing_address":{"country":"GB"}`},
	{CodeBillingAddressTwice, "billing_address", `"billing_postcode":"CA3 8RN","billing_address":{"country":"GB"}`, `"billing_postcode":"CA3 8RN","billing_address5":"x"`},
	{CodeSupplyAddressTwice, "supply_addresses.0.supply_address", `"supply_addresses":[{"supply_address5":"x","supply_address":{"country":"GB"}}]`, `"supply_addresses":[{"supply_address":{"country":"GB"}},{"supply_address5":"x"}]`},
	{CodeInvalidPostcode, "billing_postcode", `"billing_postcode":"12345"`, `"billing_postcode":"sw1a1aa"`},
	{CodeInvalidPostcode, "supply_addresses.0.supply_postcode", `"supply_addresses":[{"supply_postcode":"CA3 8R"}]`, `"supply_addresses":[{"supply_postcode":""}]`},
	{CodeInvalidPostcode, "supply_addresses.0.supply_address.postal_code", `"supply_addresses":[{"supply_address":{"country":"GB","postal_code":"75001"}}]`, `"supply_addresses":[{"supply_address":{"country":"FR","postal_code":"75001"}}]`},
	{CodeDuplicateMetadata, "metadata.2.key", `"metadata":[{"key":"a","value":1},{"key":"b","value":1},{"key":"a","value":2}]`, `"metadata":[{"key":"a","value":1},{"key":"A","value":1}]`},
	{CodeDuplicateMetadata, "customers.0.metadata.1.key", `"customers":[{"family_name":"B","metadata":[{"key":"a","value":1},{"key":"a","value":1}]}]`, `"customers":[{"family_name":"B","metadata":[{"key":"a","value":1}]}],"metadata":[{"key":"a","value":1}]`},
	{CodeDuplicateReferences, "references.1", `"references":[{"namespace":"a","value":"1"},{"namespace":"a","value":"1"}]`, `"references":[{"namespace":"a","value":"1"},{"namespace":"a","value":"2"},{"namespace":"a1","value":"1"}]`},
	{CodeDuplicateConsents, "consents.1.type", `"consents":[{"type":"A","value":"ACCEPTED"},{"type":"A","value":"REJECTED"}]`, `"consents":[{"type":"A","value":"ACCEPTED"},{"type":"B","value":"ACCEPTED"}]`},
	{CodeDuplicateConsents, "customers.0.consents.1.type", `"customers":[{"family_name":"B","consents":[{"type":"A","value":"ACCEPTED"},{"type":"A","value":"ACCEPTED"}]}]`, `"customers":[{"family_name":"B","consents":[{"type":"A","value":"ACCEPTED"}]},{"family_name":"C","consents":[{"type":"A","value":"ACCEPTED"}]}]`},
	{CodeDuplicateSupplyAddresses, "supply_addresses.1", `"supply_addresses":[{"supply_address1":"1 High St","supply_postcode":"CA3 8RN"},{"supply_address1":"1  HIGH st","supply_postcode":"ca3 8rn"}]`, `"supply_addresses":[{"supply_address1":"1 High St"},{"supply_address1":"2 High St"},{},{}]`},
	{CodeDuplicateSupplyAddresses, "supply_addresses.1", `"supply_addresses":[{"supply_address":{"country":"GB","street_address":"x"}},{"supply_address":{"country":"GB","street_address":"x"}}]`, `"supply_addresses":[{"supply_address":{"country":"GB","street_address":"x"}},{"supply_address":{"country":"IE","street_address":"x"}}]`},
	{CodeDuplicateSupplyPoints, "supply_addresses.1.supply_points.0.identifier",
		`"supply_addresses":[{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01"}]},{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2021-01-01"}]}]`,
		supplyPoints(`{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01"},{"identifier":"2","supply_type":"GAS","supply_start_date":"2020-01-01"}`)},
	{CodeStartAfterEnd, "supply_addresses.0.supply_points.0.supply_start_date",
		supplyPoints(`{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-02","supply_end_date":"2020-01-01"}`),
		supplyPoints(`{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-01","supply_end_date":"2020-01-01"}`)},
	{CodeStartAfterEnd, "supply_addresses.0.supply_points.0.agreements.0.effective_from",
		agreementsJSON(`{"product_code":"P","effective_from":"2020-01-02","effective_to":"2020-01-01"}`),
		agreementsJSON(`{"product_code":"P","effective_from":"2020-01-01","effective_to":"2020-01-02"}`)},
	{CodeStartAfterEnd, "supply_addresses.0.supply_points.0.meters.0.installed_on",
		supplyPoints(`{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-02","meters":[{"serial_number":"1","installed_on":"2020-02-01","removed_on":"2020-01-31"}]}`),
		supplyPoints(`{"identifier":"1","supply_type":"GAS","supply_start_date":"2020-01-02","meters":[{"serial_number":"1","removed_on":"2020-01-31"}]}`)},
	{CodeStartAfterEnd, "payment_schedules.0.start_date", `"payment_schedules":[{"start_date":"2024-01-02","end_date":"2024-01-01","trigger":"BILL"}]`, `"payment_schedules":[{"start_date":"2024-01-02","trigger":"BILL"}]`},
	{CodeStartAfterEnd, "statements.0.bill_period_from_date", `"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-02","bill_period_to_date":"2024-01-01"}]`, `"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-01"}]`},
	{CodeStartAfterEnd, "current_statement_transactions.0.line_items.0.start_date",
		supplyCharge(`"line_items":[{"rate_band":"R","start_date":"2024-02-01","end_date":"2024-01-31","number_of_units":1,"net_amount":10}]`),
		supplyCharge(`"line_items":[{"rate_band":"R","start_date":"2024-01-31","end_date":"2024-01-31","number_of_units":1,"net_amount":10}]`)},
	{CodeAgreementOverlap, "supply_addresses.0.supply_points.0.agreements.1.effective_from",
		agreementsJSON(`{"product_code":"P","effective_from":"2020-01-01","effective_to":"2021-01-01"},{"product_code":"Q","effective_from":"2020-12-31"}`),
		agreementsJSON(`{"product_code":"P","effective_from":"2020-01-01","effective_to":"2021-01-01"},{"product_code":"Q","effective_from":"2021-01-01"}`)},
	{CodeAgreementOverlap, "supply_addresses.0.supply_points.0.agreements.0.effective_from",
		agreementsJSON(`{"product_code":"Q","effective_from":"2022-01-01"},{"product_code":"P","effective_from":"2020-01-01"}`),
		agreementsJSON(`{"product_code":"Q","effective_from":"2021-01-01"},{"product_code":"P","effective_from":"2020-01-01","effective_to":"2021-01-01"}`)},
	{CodeAgreementGap, "supply_addresses.0.supply_points.0.agreements.1.effective_from",
		agreementsJSON(`{"product_code":"P","effective_from":"2020-01-01","effective_to":"2021-01-01"},{"product_code":"Q","effective_from":"2021-01-02"}`),
		agreementsJSON(`{"product_code":"P","effective_from":"2020-01-01","effective_to":"2021-01-01"},{"product_code":"Q","effective_from":"2021-01-01"}`)},
	{CodeDateInFuture, "date_of_sale", `"date_of_sale":"2024-06-16"`, `"date_of_sale":"2024-06-15"`},
	{CodeDateInFuture, "last_statement_closing_date", `"last_statement_closing_date":"2024-06-16"`, `"last_billed_to_date":"2024-06-16"`},
	{CodeDateInFuture, "customers.0.date_of_birth", `"customers":[{"family_name":"B","date_of_birth":"2024-06-16"}]`, `"customers":[{"family_name":"B","date_of_birth":"2024-06-15"}]`},
	{CodeDateInFuture, "consents.0.signed_at", `"consents":[{"type":"A","value":"ACCEPTED","signed_at":"2024-06-15T11:00:01Z"}]`, `"consents":[{"type":"A","value":"ACCEPTED","signed_at":"2024-06-15T11:00:00Z"}]`},
	{CodeDateInFuture, "customers.0.consents.0.signed_at", `"customers":[{"family_name":"B","consents":[{"type":"A","value":"ACCEPTED","signed_at":"2025-01-01T00:00:00Z"}]}]`, `"customers":[{"family_name":"B","consents":[{"type":"A","value":"ACCEPTED"}]}]`},
	{CodeIssuedBeforeClosing, "last_statement_issue_date", `"last_statement_closing_date":"2024-03-31","last_statement_issue_date":"2024-03-30"`, `"last_statement_closing_date":"2024-03-31","last_statement_issue_date":"2024-03-31"`},
	{CodeHistoricalWithoutClosing, "historical_statement_transactions", transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`), `"last_billed_to_date":"2024-05-01",` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`)},
	{CodeHistoricalAfterClosing, "historical_statement_transactions.0.transaction_date", `"last_statement_closing_date":"2024-04-30",` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`), `"last_statement_closing_date":"2024-05-01",` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`)},
	{CodeHistoricalAfterClosing, "historical_statement_transactions.0.transaction_date", `"last_billed_to_date":"2024-04-30",` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`), `"last_billed_to_date":"2024-04-30","last_statement_closing_date":"2024-05-01",` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`)},
	{CodeCurrentBeforeOpening, "current_statement_transactions.0.transaction_date", `"last_statement_closing_date":"2024-05-01",` + transactionJSON("current_statement_transactions", `"type":"PAYMENT"`), `"last_statement_closing_date":"2024-04-30",` + transactionJSON("current_statement_transactions", `"type":"PAYMENT"`)},
	{CodeCurrentBeforeOpening, "current_statement_transactions.0.transaction_date", `"last_billed_to_date":"2024-05-01",` + transactionJSON("current_statement_transactions", `"type":"PAYMENT"`), transactionJSON("current_statement_transactions", `"type":"PAYMENT"`)},
	{landfall.CodeDuplicateTransactions, "current_statement_transactions.0.transaction_id",
		`"last_statement_closing_date":"2024-04-30","historical_statement_transactions":[{"transaction_id":"1","transaction_date":"2024-04-01","amount":1,"type":"PAYMENT"}],` + transactionJSON("current_statement_transactions", `"type":"PAYMENT"`),
		`"last_statement_closing_date":"2024-04-30","historical_statement_transactions":[{"transaction_id":"0","transaction_date":"2024-04-01","amount":1,"type":"PAYMENT"}],` + transactionJSON("current_statement_transactions", `"type":"PAYMENT"`)},
	{CodeDuplicateStatements, "statements.1.statement_id",
		`"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-31"},{"statement_id":"1","bill_period_from_date":"2024-02-01","bill_period_to_date":"2024-02-28"}]`,
		`"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-31"},{"statement_id":"2","bill_period_from_date":"2024-02-01","bill_period_to_date":"2024-02-28"}]`},
	{CodeDuplicateInstructions, "payment_instructions.1.reference",
		`"payment_instructions":[{"vendor":"V","reference":"1","type":"CARD"},{"vendor":"V","reference":"1","type":"BPAY"}]`,
		`"payment_instructions":[{"vendor":"V","reference":"1","type":"CARD"},{"vendor":"W","reference":"1","type":"CARD"}]`},
	{CodeDuplicateSupplyPoints, "supply_addresses.0.supply_points.1.identifier",
		`"supply_addresses":[{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2024-01-01"},{"identifier":"1","supply_type":"GAS","supply_start_date":"2024-01-01"}]}]`,
		`"supply_addresses":[{"supply_points":[{"identifier":"1","supply_type":"GAS","supply_start_date":"2024-01-01"},{"identifier":"1","supply_type":"WATER","supply_start_date":"2024-01-01"}]}]`},
	{CodeDateInFuture, "last_billed_to_date", `"last_billed_to_date":"9999-12-31"`, `"last_billed_to_date":"2024-05-01"`},
	{CodeHistoricalBalance, "last_statement_balance", `"last_statement_closing_date":"2024-05-01","last_statement_balance":10.01,` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`), `"last_statement_closing_date":"2024-05-01","last_statement_balance":10.00,` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`)},
	{CodeHistoricalBalance, "last_statement_balance", `"last_statement_closing_date":"2024-05-01","last_statement_balance":10,` + transactionJSON("historical_statement_transactions", `"type":"REPAYMENT"`), `"last_statement_closing_date":"2024-05-01","last_statement_balance":10`},
	{CodeTransferBalance, "transfer_balance", `"last_statement_closing_date":"2024-04-30","last_statement_balance":1,"transfer_balance":11,` + transactionJSON("current_statement_transactions", `"type":"CHARGE","reason":"R"`), `"last_statement_closing_date":"2024-04-30","last_statement_balance":1,"transfer_balance":-9,` + transactionJSON("current_statement_transactions", `"type":"CHARGE","reason":"R"`)},
	{CodeTransferBalance, "transfer_balance", `"last_statement_closing_date":"2024-04-30","last_statement_balance":1,"transfer_balance":2`, `"transfer_balance":2`},
	{CodeBalanceWithoutClosing, "last_statement_balance", `"last_statement_balance":0.01`, `"last_statement_balance":0`},
	{CodeStatementOverlap, "statements.1.bill_period_from_date",
		`"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-31"},{"statement_id":"2","bill_period_from_date":"2024-01-31","bill_period_to_date":"2024-02-28"}]`,
		`"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-01-31"},{"statement_id":"2","bill_period_from_date":"2024-02-01","bill_period_to_date":"2024-02-28"}]`},
	{CodeNoteEmpty, "notes.0.body", `"notes":[{}]`, `"notes":[{"body":"x"}]`},
	{CodeNoteEmpty, "notes.0.body", `"notes":[{"body":"","document_paths":[]}]`, `"notes":[{"document_paths":[{"document_path":"a.pdf"}]}]`},
	{CodeNoteUnpin, "notes.0.unpin_at", `"notes":[{"body":"x","created_at":"2024-01-01T00:00:00Z","unpin_at":"2023-12-31T23:59:59Z"}]`, `"notes":[{"body":"x","created_at":"2024-01-01T01:00:00+01:00","unpin_at":"2024-01-01T00:00:00Z"}]`},
	{CodeScheduleAmount, "payment_schedules.0.amount", `"payment_schedules":[{"start_date":"2024-01-01","trigger":"REGULAR","frequency":"MONTHLY","day_of_month":1}]`, `"payment_schedules":[{"start_date":"2024-01-01","trigger":"REGULAR","amount":1,"frequency":"MONTHLY","day_of_month":1}]`},
	{CodeScheduleFrequency, "payment_schedules.0.frequency", `"payment_schedules":[{"start_date":"2024-01-01","trigger":"REGULAR","amount":1,"day_of_month":1}]`, `"payment_schedules":[{"start_date":"2024-01-01","trigger":"BILL"}]`},
	{CodeScheduleDay, "payment_schedules.0.day_of_month", `"payment_schedules":[{"start_date":"2024-01-01","trigger":"REGULAR","amount":1,"frequency":"MONTHLY"}]`, `"payment_schedules":[{"start_date":"2024-01-01","trigger":"BALANCE","balance_threshold":0}]`},
	{CodeScheduleThreshold, "payment_schedules.0.balance_threshold", `"payment_schedules":[{"start_date":"2024-01-01","trigger":"BALANCE"}]`, `"payment_schedules":[{"start_date":"2024-01-01","trigger":"BILL"}]`},
	{CodeScheduleOverlap, "payment_schedules.1.start_date", `"payment_schedules":[{"start_date":"2024-01-01","trigger":"BILL"},{"start_date":"2030-01-01","trigger":"BILL"}]`, `"payment_schedules":[{"start_date":"2024-01-01","end_date":"2024-01-31","trigger":"BILL"},{"start_date":"2024-02-01","trigger":"BILL"}]`},
	{CodeLineItemNet, "current_statement_transactions.0.line_items.0.net_amount",
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":3,"price_per_unit":"3.33","net_amount":"10.001"}]`),
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":3,"price_per_unit":"3.33","net_amount":"10.00"}]`)},
	{CodeTaxAmount, "current_statement_transactions.0.tax_items.0.amount",
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":"9.49"}],"tax_items":[{"amount":0.51,"tax_type":"VAT","value_taxed":10,"rate":0.05,"unit_type":"PROPORTION"}]`),
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":"9.29"}],"tax_items":[{"amount":0.71,"tax_type":"VAT","value_taxed":14.17,"rate":0.05,"unit_type":"PROPORTION"}]`)},
	{CodeItemsSum, "current_statement_transactions.0.amount",
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":"9.98"}]`),
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":"9.996"}]`)},
	{CodeUnits, "current_statement_transactions.0.line_items.0.units",
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":10,"units":[1,2,3]}]`),
		supplyCharge(`"line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":10,"units":[1,2]}]`)},
	{CodePhoneNotAssigned, "customers.0.mobile", `"customers":[{"family_name":"B","mobile":"+44 1111 111111"}]`, `"customers":[{"family_name":"B","mobile":"+44 7912 345678"}]`},
	{CodeTestEmail, "customers.0.email", `"customers":[{"family_name":"B","email":"a@mail.Example.com"}]`, `"customers":[{"family_name":"B","email":"a@notexample.com"}]`},
	{CodeTestEmail, "billing_email", `"billing_email":"a@b.test"`, `"billing_email":""`},
	{CodeTestEmail, "customers.0.contact_emails.0", `"customers":[{"family_name":"B","contact_emails":["a@example.org"]}]`, `"customers":[{"family_name":"B","contact_emails":["a@attest"]}]`},
}

func TestEveryRule(t *testing.T) {
	tried := map[string]bool{}
	for _, c := range ruleCases {
		tried[c.code] = true
		t.Run(c.code+"/"+c.attr, func(t *testing.T) {
			for _, severity := range []landfall.Severity{landfall.SeverityError, landfall.SeverityWarning, landfall.SeverityOff, ""} {
				expectRule(t, c.code, c.attr, c.broken, severity)
			}
			verdict := mustRead(t, accountJSON(c.fine)).Check(strictSupplier(c.code, landfall.SeverityError), testNow)
			if slices.ContainsFunc(verdict.Errors, func(v landfall.Violation) bool { return v.Code == c.code }) {
				t.Errorf("the near miss breaks the rule too: %v", codesOf(verdict.Errors))
			}
		})
	}
	for _, rule := range RuleBook() {
		// Rules across accounts need the other accounts.
		if _, across := AcrossKind(rule.Code); !tried[rule.Code] && !across {
			t.Errorf("no case for %s", rule.Code)
		}
	}
}

// expectRule checks that a broken rule is reported alone and according to its
// severity. An empty severity means the default.
func expectRule(t *testing.T, code, attr, members string, severity landfall.Severity) {
	t.Helper()
	verdict := mustRead(t, accountJSON(members)).Check(strictSupplier(code, severity), testNow)
	if severity == "" {
		severity = ruleIndex[code].Severity
	}
	want := []string{code + " " + attr}
	errors, warnings := codesOf(verdict.Errors), codesOf(verdict.Warnings)
	switch severity {
	case landfall.SeverityError:
		if !slices.Equal(errors, want) {
			t.Errorf("as an error: %v", errors)
		}
	case landfall.SeverityWarning:
		if len(errors) > 0 || !slices.Equal(warnings, want) {
			t.Errorf("as a warning: errors %v, warnings %v", errors, warnings)
		}
	case landfall.SeverityOff:
		if len(errors) > 0 || slices.Contains(warnings, want[0]) {
			t.Errorf("switched off: errors %v, warnings %v", errors, warnings)
		}
	}
}

func strictSupplier(code string, severity landfall.Severity) *landfall.Supplier {
	supplier := testSupplier()
	if severity != "" {
		supplier.Severities[code] = severity
	}
	return supplier
}

func TestAmountsOfACurrencyWithoutDecimalsAreWhole(t *testing.T) {
	body := accountJSON(`"transfer_balance":"12.34","current_statement_transactions":[{"transaction_id":"1","transaction_date":"2024-05-01","amount":"5.50","type":"PAYMENT"}]`)
	yen := landfall.NewSupplier("S")
	yen.Currency = "JPY"
	found := map[string]bool{}
	for _, violation := range mustRead(t, body).Check(&yen, testNow).Errors {
		found[violation.Code+" "+violation.Attr] = true
	}
	for _, want := range []string{"max_decimal_places transfer_balance", "max_decimal_places current_statement_transactions.0.amount"} {
		if !found[want] {
			t.Errorf("no %s in %v", want, found)
		}
	}
	whole := accountJSON(`"transfer_balance":"12.00","payment_schedules":[]`)
	if errs := mustRead(t, whole).Check(&yen, testNow).Errors; len(errs) > 0 {
		t.Errorf("a whole amount is refused: %v", errs)
	}
}

func TestIdentifiersMayBeIntegers(t *testing.T) {
	body := `{"import_supplier":"S","external_account_number":1001,"customers":[{}],"references":[{"namespace":"old","value":77}],
		"supply_addresses":[{"supply_points":[{"identifier":1200012345678,"supply_type":"GAS","supply_start_date":"2020-01-01"}]}]}`
	account := mustRead(t, body)
	supplier := landfall.NewSupplier("S")
	if errs := account.Check(&supplier, testNow).Errors; len(errs) > 0 {
		t.Fatal(errs)
	}
	if key := account.Key(); key.External != "1001" || account.Data().SupplyAddresses[0].SupplyPoints[0].Identifier != "1200012345678" {
		t.Errorf("the key is %+v", key)
	}
	for _, wrong := range []string{"-1", "1.5", "1e3", "true"} {
		account := mustRead(t, `{"import_supplier":"S","external_account_number":`+wrong+`,"customers":[{}]}`)
		if errs := account.Check(&supplier, testNow).Errors; len(errs) != 1 || errs[0].Code != "invalid_type" {
			t.Errorf("%s: %v", wrong, errs)
		}
	}
}

func TestTheCurrencyDecidesHowManyDecimalsAnAmountHas(t *testing.T) {
	body := func(amount string) string {
		return `{"import_supplier":"S","external_account_number":"1","customers":[{"family_name":"Doe"}],"transfer_balance":"` + amount + `","current_statement_transactions":[
			{"transaction_id":"T","transaction_date":"2024-01-01","amount":"` + amount + `","type":"CREDIT","reason":"R","tax_items":[{"amount":"` + amount + `","tax_type":"VAT","value_taxed":1,"rate":1,"unit_type":"X"}]}]}`
	}
	for _, c := range []struct {
		currency, amount string
		errors           int
	}{{"GBP", "1.23", 0}, {"GBP", "1.230", 0}, {"GBP", "1.234", 3}, {"KWD", "1.234", 0}, {"KWD", "1.2345", 3}, {"JPY", "1", 0}, {"JPY", "1.2", 3}} {
		supplier := landfall.NewSupplier("S")
		supplier.Currency = c.currency
		errs := mustRead(t, body(c.amount)).Check(&supplier, testNow).Errors
		for _, violation := range errs {
			if violation.Code != "max_decimal_places" {
				t.Errorf("%s %s: %+v", c.currency, c.amount, violation)
			}
		}
		if len(errs) != c.errors {
			t.Errorf("%s %s: %d errors, want %d: %+v", c.currency, c.amount, len(errs), c.errors, errs)
		}
	}
}

func TestAmountsThatAddUpToMoreThanABalanceAreRefused(t *testing.T) {
	transactions := make([]string, 1002)
	for i := range transactions {
		transactions[i] = fmt.Sprintf(`{"transaction_id":"T%d","transaction_date":"2024-01-01","amount":"999999999999.99","type":"PAYMENT"}`, i)
	}
	for count, refused := range map[int]bool{1000: false, 1002: true} {
		request, err := ReadTransactions(t.Context(), []byte(`{"import_supplier":"S","external_account_number":"1","transactions":[`+strings.Join(transactions[:count], ",")+`]}`))
		if err != nil {
			t.Fatal(err)
		}
		supplier := landfall.NewSupplier("S")
		if errs := request.Check(&supplier, testNow, true).Errors; (len(errs) == 1 && errs[0].Code == "out_of_range" && errs[0].Attr == "transactions.1000.amount") != refused || !refused && len(errs) > 0 {
			t.Errorf("%d transactions: %+v", count, errs)
		}
	}
}
