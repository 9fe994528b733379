package contract

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"landfall"
	"landfall/internal/api/rules"
)

// TestOneMistakeIsReportedOnce has bodies whose invalid values would also trigger
// cross-field rules if those looked at them.
func TestOneMistakeIsReportedOnce(t *testing.T) {
	cases := []struct {
		name, members string
		want          []string
	}{
		{"customers are no list", `"customers":{}`, []string{"invalid_type customers"}},
		{"occupier flag is a text", `"customers":[],"unknown_occupier":"yes"`, []string{"invalid_type unknown_occupier"}},
		{"account type is unknown", `"account_type":"CHURCH","business_type":"X","customers":[{}]`, []string{"invalid_choice account_type"}},
		{"family name is a number", `"customers":[{"family_name":1}]`, []string{"invalid_type customers.0.family_name"}},
		{"customer is a text", `"customers":["Ada"]`, []string{"invalid_type customers.0"}},
		{"landline has letters", `"customers":[{"family_name":"B","landline":"CALL ME"}]`, []string{"invalid_phone_number customers.0.landline"}},
		{"email is broken", `"billing_email":"x@example"`, []string{"invalid_email billing_email"}},
		{"closing date is no day", `"last_statement_closing_date":"2024-02-30","last_statement_balance":5,` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`),
			[]string{"invalid_date last_statement_closing_date", "historical_balance_mismatch last_statement_balance"}},
		{"closing date is no day, billed-to date is earlier", `"last_statement_closing_date":"x","last_billed_to_date":"2024-01-01",` + transactionJSON("historical_statement_transactions", `"type":"PAYMENT"`),
			[]string{"invalid_date last_statement_closing_date"}},
		{"an amount is broken, so no sum is taken", `"last_statement_closing_date":"2024-05-01","last_statement_balance":5,"historical_statement_transactions":[{"transaction_id":"1","transaction_date":"2024-05-01","amount":"ten","type":"PAYMENT"}]`,
			[]string{"invalid_decimal historical_statement_transactions.0.amount"}},
		{"type is unknown", transactionJSON("current_statement_transactions", `"type":"GIFT"`), []string{"invalid_choice current_statement_transactions.0.type"}},
		{"reason is broken", transactionJSON("current_statement_transactions", `"type":"CHARGE","reason":"two words"`), []string{"invalid_characters current_statement_transactions.0.reason"}},
		{"note body is a list", `"notes":[{"body":[]}]`, []string{"invalid_type notes.0.body"}},
		{"schedule amount is broken", `"payment_schedules":[{"start_date":"2024-01-01","trigger":"REGULAR","amount":1.234,"frequency":"MONTHLY","day_of_month":29}]`,
			[]string{"max_decimal_places payment_schedules.0.amount", "out_of_range payment_schedules.0.day_of_month"}},
		{"a note that is null", `"notes":[null]`, []string{"required notes.0"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			verdict := mustRead(t, accountJSON(c.members)).Check(testSupplier(), testNow)
			if diff := cmp.Diff(c.want, codesOf(verdict.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestRequiredFieldsByTransactionType leaves out what each type requires. A charge
// without its reason cannot be explained to the customer.
func TestRequiredFieldsByTransactionType(t *testing.T) {
	const list = "current_statement_transactions"
	cases := []struct {
		members string
		want    []string
	}{
		{`"type":"CHARGE"`, []string{"required " + list + ".0.reason"}},
		{`"type":"CREDIT"`, []string{"required " + list + ".0.reason"}},
		{`"type":"CREDIT","reason":"R","reference":"fields of other types are fine"`, []string{}},
		{`"type":"SUPPLY_CHARGE"`, []string{"required " + list + ".0.product_code", "required " + list + ".0.line_items"}},
		{`"type":"SUPPLY_CHARGE","product_code":"P","line_items":[]`, []string{"required " + list + ".0.line_items"}},
		{`"type":"SUPPLY_CHARGE","product_code":"P","line_items":[{}]`, []string{
			"required " + list + ".0.line_items.0.rate_band", "required " + list + ".0.line_items.0.start_date",
			"required " + list + ".0.line_items.0.end_date", "required " + list + ".0.line_items.0.number_of_units",
			"required " + list + ".0.line_items.0.net_amount"}},
		{`"type":"PAYMENT"`, []string{}},
		{`"type":"REPAYMENT","tax_items":[{}]`, []string{
			"required " + list + ".0.tax_items.0.amount", "required " + list + ".0.tax_items.0.tax_type",
			"required " + list + ".0.tax_items.0.value_taxed", "required " + list + ".0.tax_items.0.rate",
			"required " + list + ".0.tax_items.0.unit_type"}},
	}
	for _, c := range cases {
		t.Run(c.members, func(t *testing.T) {
			verdict := mustRead(t, accountJSON(transactionJSON(list, c.members))).Check(testSupplier(), testNow)
			if diff := cmp.Diff(c.want, codesOf(verdict.Errors)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestPaymentsMustBeMoreThanZero negates payments. A negative payment would be a
// repayment that never happened, while suppliers use negative charges as
// corrections.
func TestPaymentsMustBeMoreThanZero(t *testing.T) {
	for amount, want := range map[string][]string{
		"0": {"out_of_range current_statement_transactions.0.amount"}, "-0.01": {"out_of_range current_statement_transactions.0.amount"}, "0.01": {},
	} {
		for _, kind := range []string{"PAYMENT", "REPAYMENT"} {
			body := accountJSON(`"current_statement_transactions":[{"transaction_id":"1","transaction_date":"2024-05-01","type":"` + kind + `","amount":` + amount + `}]`)
			if diff := cmp.Diff(want, codesOf(mustRead(t, body).Check(testSupplier(), testNow).Errors)); diff != "" {
				t.Errorf("%s of %s: %s", kind, amount, diff)
			}
		}
	}
	negative := accountJSON(`"current_statement_transactions":[{"transaction_id":"1","transaction_date":"2024-05-01","type":"CHARGE","reason":"R","amount":-1}]`)
	if verdict := mustRead(t, negative).Check(testSupplier(), testNow); len(verdict.Errors) > 0 {
		t.Errorf("a negative charge is refused: %v", codesOf(verdict.Errors))
	}
}

// TestSumsAreSigned adds one transaction of each type: 5 + 4 - 3 - 2 - 1 = 3.
func TestSumsAreSigned(t *testing.T) {
	body := accountJSON(`"last_statement_closing_date":"2024-05-01","last_statement_balance":"3.00","historical_statement_transactions":[
		{"transaction_id":"1","transaction_date":"2024-05-01","amount":5,"type":"PAYMENT"},
		{"transaction_id":"2","transaction_date":"2024-05-01","amount":4,"type":"CREDIT","reason":"R"},
		{"transaction_id":"3","transaction_date":"2024-05-01","amount":3,"type":"CHARGE","reason":"R"},
		{"transaction_id":"4","transaction_date":"2024-05-01","amount":2,"type":"REPAYMENT"},
		{"transaction_id":"5","transaction_date":"2024-05-01","amount":1,"type":"SUPPLY_CHARGE","product_code":"P","line_items":[{` + lineJSON + `"number_of_units":1,"net_amount":1}]}]`)
	if verdict := mustRead(t, body).Check(testSupplier(), testNow); len(verdict.Errors)+len(verdict.Warnings) > 0 {
		t.Errorf("%v %v", codesOf(verdict.Errors), codesOf(verdict.Warnings))
	}
}

// TestTodayUsesTheSuppliersTimeZone uses an instant that falls on one day in London and
// on the next in Auckland.
func TestTodayUsesTheSuppliersTimeZone(t *testing.T) {
	now := time.Date(2024, 6, 15, 20, 0, 0, 0, time.UTC)
	body := accountJSON(`"date_of_sale":"2024-06-16"`)
	for zone, want := range map[string]int{"Europe/London": 1, "Pacific/Auckland": 0} {
		supplier := testSupplier()
		supplier.TimeZone = zone
		if got := len(mustRead(t, body).Check(supplier, now).Errors); got != want {
			t.Errorf("%s: %d errors", zone, got)
		}
	}
}

// TestRegionDecidesAboutPhonesAndPostcodes reads one number for suppliers of two
// countries. With the wrong country, all customers of a supplier would be
// refused.
func TestRegionDecidesAboutPhonesAndPostcodes(t *testing.T) {
	body := accountJSON(`"billing_postcode":"12345","customers":[{"family_name":"B","landline":"650 253 0000"}]`)
	british := mustRead(t, body).Check(testSupplier(), testNow)
	supplier := testSupplier()
	supplier.Region = "US"
	american := mustRead(t, body).Check(supplier, testNow)
	if len(british.Warnings) != 1 || len(american.Errors)+len(american.Warnings) > 0 {
		t.Errorf("british %v, american %v %v", codesOf(british.Warnings), codesOf(american.Errors), codesOf(american.Warnings))
	}
}

// TestShortStatementDoesNotHideALongOne has a short statement between two that
// overlap. Comparing only neighbours would not find the overlap.
func TestShortStatementDoesNotHideALongOne(t *testing.T) {
	body := accountJSON(`"statements":[
		{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-12-31"},
		{"statement_id":"2","bill_period_from_date":"2024-02-01","bill_period_to_date":"2024-02-28"},
		{"statement_id":"3","bill_period_from_date":"2024-03-01","bill_period_to_date":"2024-03-31"}]`)
	want := []string{CodeStatementOverlap + " statements.1.bill_period_from_date", CodeStatementOverlap + " statements.2.bill_period_from_date"}
	if diff := cmp.Diff(want, codesOf(mustRead(t, body).Check(testSupplier(), testNow).Warnings)); diff != "" {
		t.Error(diff)
	}
}

// TestEmptyPathIsAnInvalidPath sends empty paths where one is required and where
// one is optional.
func TestEmptyPathIsAnInvalidPath(t *testing.T) {
	body := accountJSON(`"notes":[{"document_paths":[{"document_path":""}]}],"statements":[{"statement_id":"1","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-12-31","statement_path":""}]`)
	// A statement's path is optional, so an empty one counts as absent.
	want := []string{"invalid_path notes.0.document_paths.0.document_path"}
	if diff := cmp.Diff(want, codesOf(mustRead(t, body).Check(testSupplier(), testNow).Errors)); diff != "" {
		t.Error(diff)
	}
}

// A control character makes a path invalid; only U+0000 has the same code
// everywhere.
func TestControlCharacterInAPath(t *testing.T) {
	for spelled, code := range map[string]string{`a\nb`: CodeInvalidPath, `a\u007f`: CodeInvalidPath, `a\u0000b\n`: rules.CodeInvalidCharacters} {
		body := accountJSON(`"notes":[{"document_paths":[{"document_path":"` + spelled + `"}]}]`)
		want := []string{code + " notes.0.document_paths.0.document_path"}
		if diff := cmp.Diff(want, codesOf(mustRead(t, body).Check(testSupplier(), testNow).Errors)); diff != "" {
			t.Errorf("%s: %s", spelled, diff)
		}
	}
}

// An invisible space would let the same payment or statement in twice.
func TestIdentifiersDifferVisibly(t *testing.T) {
	for _, spelled := range []string{"P-1 ", " P-1", `P-1\u200b`, `P\u202e-1`} {
		body := accountJSON(`"current_statement_transactions":[{"transaction_id":"` + spelled + `","transaction_date":"2024-01-01","amount":1,"type":"PAYMENT"}],` +
			`"statements":[{"statement_id":"` + spelled + `","bill_period_from_date":"2024-01-01","bill_period_to_date":"2024-12-31"}]`)
		found := codesOf(mustRead(t, body).Check(testSupplier(), testNow).Errors)
		for _, want := range []string{"invalid_characters current_statement_transactions.0.transaction_id", "invalid_characters statements.0.statement_id"} {
			if !slices.Contains(found, want) {
				t.Errorf("%q: %v", spelled, found)
			}
		}
	}
}

// TestManyDuplicatesAreFound looks for duplicates in a list longer than those that are
// compared pair by pair.
func TestManyDuplicatesAreFound(t *testing.T) {
	var known seenSet[string]
	for i := range 100 {
		text := string(rune('a' + i))
		if !known.add(text) || known.add(text) {
			t.Fatalf("text %d", i)
		}
	}
}

// TestVerdictWithoutErrorsIsNoError has only warnings, which must never refuse an
// account.
func TestVerdictWithoutErrorsIsNoError(t *testing.T) {
	if err := (Verdict{Warnings: []landfall.Violation{{Code: "x"}}}).Err(); err != nil {
		t.Error(err)
	}
}
