package main

import (
	"strconv"
	"strings"
)

// supplier is the supplier of all benchmark accounts.
const supplier = "BENCH"

// accountTemplate is a realistic account of about 2 KB: two customers, a supply
// address with two supply points and meters, balances and transactions.
var accountTemplate = compact(`{
 "import_supplier": "BENCH",
 "external_account_number": "EXT-NUMBER",
 "account_type": "DOMESTIC",
 "billing_name": "Ada Lovelace",
 "billing_email": "ada.lovelace@mail.co.uk",
 "billing_address1": "12 St James's Square",
 "billing_address2": "Westminster",
 "billing_address3": "London",
 "billing_postcode": "SW1Y 4JH",
 "communication_preference": "ONLINE",
 "date_of_sale": "2024-03-01",
 "last_statement_closing_date": "2026-06-30",
 "last_statement_issue_date": "2026-07-03",
 "last_statement_balance": "-42.10",
 "transfer_balance": "7.90",
 "customers": [
  {"given_name": "Ada", "family_name": "Lovelace", "title": "Ms", "email": "ada.lovelace@mail.co.uk", "mobile": "+447400123456", "landline": "020 7946 0123", "date_of_birth": "1985-12-10",
   "customer_preferences": {"opted_into_sms": true, "opted_into_offers": false}},
  {"given_name": "Charles", "family_name": "Babbage", "email": "charles.babbage@mail.co.uk", "mobile": "07400 654321"}
 ],
 "supply_addresses": [
  {"supply_address1": "12 St James's Square", "supply_address2": "London", "supply_postcode": "SW1Y 4JH",
   "supply_points": [
    {"identifier": "1200023305967", "supply_type": "ELECTRICITY", "supply_start_date": "2024-03-14",
     "agreements": [{"product_code": "FIXED-12M", "effective_from": "2024-03-14", "effective_to": "2025-03-14"}, {"product_code": "FLEX-1", "effective_from": "2025-03-14"}],
     "meters": [{"serial_number": "E12Z004521", "installed_on": "2019-05-02", "registers": [{"register_id": "01", "number_of_digits": 5, "transfer_readings": [{"reading_date": "2026-06-30", "reading_type": "CUSTOMER", "reading_value": "45210"}]}]}]},
    {"identifier": "7501234509", "supply_type": "GAS", "supply_start_date": "2024-03-14",
     "agreements": [{"product_code": "FLEX-1", "effective_from": "2024-03-14"}],
     "meters": [{"serial_number": "G4A0088123", "registers": [{"register_id": "01", "number_of_digits": 5}]}]}
   ]}
 ],
 "current_statement_transactions": [
  {"transaction_id": "P-1", "transaction_date": "2026-07-05", "amount": 50.00, "type": "PAYMENT", "payment_type": "DD_REGULAR_COLLECTION", "reason": "ACCOUNT_CHARGE_PAYMENT", "reference": "DD-77120"}
 ]
}`)

// compact removes line breaks and indentation, as machines send JSON.
func compact(text string) string {
	var flat strings.Builder
	for line := range strings.Lines(text) {
		flat.WriteString(strings.TrimSpace(line))
	}
	return flat.String()
}

// The template is split once at the number, so that generating requests costs
// little. Accounts differ only in their number, so that each one causes the
// same work.
var accountHead, accountTail, _ = strings.Cut(accountTemplate, "NUMBER")

// accountOffset gives all numbers the same length.
const accountOffset = 1_000_000_000_000

// appendAccount appends the n-th account.
func appendAccount(n int64, dst []byte) []byte {
	dst = append(dst, accountHead...)
	dst = strconv.AppendInt(dst, accountOffset+n, 10)
	return append(dst, accountTail...)
}

// externalOf returns the number of the n-th account.
func externalOf(n int64) string { return "EXT-" + strconv.FormatInt(accountOffset+n, 10) }
