package rules

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// sample is an account of about 2 KB and 60 values, as suppliers send them.
var sample = []byte(`{
  "import_supplier": "DEMO_ENERGY", "external_account_number": "EXT-0001-2233", "account_type": "DOMESTIC", "currency": "GBP",
  "billing_name": "Ada Lovelace", "billing_email": "ada@lovelace.example",
  "billing_address1": "1 Analytical Row", "billing_address2": "Marylebone", "billing_address3": "London", "billing_postcode": "W1U 6TU",
  "date_of_sale": "2024-03-01", "last_billed_to_date": "2024-05-31", "last_statement_closing_date": "2024-05-31",
  "last_statement_balance": "-12.30", "transfer_balance": 37.70,
  "customers": [
    {"given_name": "Ada", "family_name": "Lovelace", "title": "Ms", "email": "ada@lovelace.example", "mobile": "+447700900123", "landline": "02079460000", "date_of_birth": "1985-12-10", "role": "OCCUPIER"},
    {"given_name": "Charles", "family_name": "Babbage", "title": "Mr", "email": "charles@babbage.example", "mobile": "+447700900456", "landline": "02079460001", "date_of_birth": "1971-12-26", "role": "OCCUPIER"}
  ],
  "current_transactions": [
    {"transaction_id": "T-1", "transaction_date": "2024-06-05", "amount": 50.00, "type": "PAYMENT", "reason": "ACCOUNT_CHARGE_PAYMENT", "note": "Direct debit collected by the previous supplier"},
    {"transaction_id": "T-2", "transaction_date": "2024-06-07", "amount": 10.50, "type": "CHARGE", "reason": "IMPORTED_CHARGE", "note": "Final meter reading visit"},
    {"transaction_id": "T-3", "transaction_date": "2024-06-09", "amount": 10.50, "type": "CREDIT", "reason": "IMPORTED_CREDIT", "note": "Visit charge given back after the customer called"}
  ],
  "notes": [
    {"body": "Customer prefers to be called in the evening. Speaks German.", "created_at": "2024-05-01T10:00:00Z", "is_pinned": true},
    {"body": "Meter cupboard key is with the neighbour at number 3.", "created_at": "2024-05-02T11:30:00Z", "is_pinned": false}
  ],
  "metadata": [{"key": "legacy", "value": {"route": 17, "tags": ["a", "b"]}}]
}`)

var sampleTable = func() *Table {
	customer := NewTable("Customer", "",
		Optional("given_name", Text(255), ""), Optional("family_name", Text(255), ""), Optional("title", Text(20), ""), Optional("salutation", Text(128), ""),
		Optional("email", Text(254), ""), Optional("contact_emails", List(0, 20, Text(254)), ""), Optional("mobile", Text(32), ""), Optional("landline", Text(32), ""),
		Optional("date_of_birth", Date(), ""), Optional("deceased", OrEmpty(Choice("Reported", "Confirmed")), ""), Optional("role", Text(64), ""),
		Optional("label", Text(255), ""), Optional("user_identifier", Text(128), ""))
	transaction := NewTable("Transaction", "",
		Required("transaction_id", NonEmpty(128), ""), Required("transaction_date", Date(), ""), Required("amount", Amount(), ""),
		Required("type", Choice("CHARGE", "CREDIT", "PAYMENT", "REPAYMENT", "SUPPLY_CHARGE"), ""),
		Optional("reason", Text(64), ""), Optional("note", Text(20000), ""), Optional("rate", Decimal(), ""))
	note := NewTable("Note", "", Optional("body", Text(20000), ""), Optional("created_at", Datetime(), ""), Optional("is_pinned", Boolean(), ""), Optional("unpin_at", Datetime(), ""))
	entry := NewTable("Metadata", "", Required("key", NonEmpty(255), ""), Required("value", AnyJSON(), ""))
	return NewTable("Account", "An account.",
		Required("import_supplier", NonEmpty(32), ""), Required("external_account_number", NonEmpty(128), ""),
		Required("customers", List(0, 100, Object(customer)), ""), Optional("unknown_occupier", Boolean(), ""),
		Optional("account_type", Choice("DOMESTIC", "BUSINESS"), ""), Optional("currency", Text(3), ""), Optional("billing_name", Text(510), ""),
		Optional("billing_email", Text(254), ""), Optional("billing_address1", Text(512), ""), Optional("billing_address2", Text(512), ""),
		Optional("billing_address3", Text(512), ""), Optional("billing_address4", Text(512), ""), Optional("billing_postcode", Text(16), ""),
		Optional("date_of_sale", Date(), ""), Optional("last_billed_to_date", Date(), ""), Optional("last_statement_closing_date", Date(), ""),
		Optional("last_statement_balance", Amount(), ""), Optional("transfer_balance", Amount(), ""), Optional("period_length", Integer(1, 12), ""),
		Optional("current_transactions", List(0, 10000, Object(transaction)), ""), Optional("notes", List(0, 1000, Object(note)), ""),
		Optional("metadata", List(0, 1000, Object(entry)), ""))
}()

// account is the struct that a program without tables would decode into.
type account struct {
	ImportSupplier           string  `json:"import_supplier"`
	ExternalAccountNumber    string  `json:"external_account_number"`
	AccountType              string  `json:"account_type"`
	Currency                 string  `json:"currency"`
	BillingName              string  `json:"billing_name"`
	BillingEmail             string  `json:"billing_email"`
	BillingAddress1          string  `json:"billing_address1"`
	BillingAddress2          string  `json:"billing_address2"`
	BillingAddress3          string  `json:"billing_address3"`
	BillingPostcode          string  `json:"billing_postcode"`
	DateOfSale               string  `json:"date_of_sale"`
	LastBilledToDate         string  `json:"last_billed_to_date"`
	LastStatementClosingDate string  `json:"last_statement_closing_date"`
	LastStatementBalance     string  `json:"last_statement_balance"`
	TransferBalance          float64 `json:"transfer_balance"`
	Customers                []struct {
		GivenName   string `json:"given_name"`
		FamilyName  string `json:"family_name"`
		Title       string `json:"title"`
		Email       string `json:"email"`
		Mobile      string `json:"mobile"`
		Landline    string `json:"landline"`
		DateOfBirth string `json:"date_of_birth"`
		Role        string `json:"role"`
	} `json:"customers"`
	CurrentTransactions []struct {
		TransactionID   string  `json:"transaction_id"`
		TransactionDate string  `json:"transaction_date"`
		Amount          float64 `json:"amount"`
		Type            string  `json:"type"`
		Reason          string  `json:"reason"`
		Note            string  `json:"note"`
	} `json:"current_transactions"`
	Notes []struct {
		Body      string `json:"body"`
		CreatedAt string `json:"created_at"`
		IsPinned  bool   `json:"is_pinned"`
	} `json:"notes"`
	Metadata []struct {
		Key   string         `json:"key"`
		Value jsontext.Value `json:"value"`
	} `json:"metadata"`
}

func readSample(b *testing.B) {
	if doc, fault := sampleTable.Read(sample, Limits{}); fault != nil || doc.Report().Failed() {
		b.Fatal(fault)
	}
}

func bareTokens(b *testing.B) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(sample))
	for {
		if _, err := decoder.ReadToken(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			b.Fatal(err)
		}
	}
}

func bareStruct(b *testing.B) {
	var into account
	if err := jsonv2.Unmarshal(sample, &into); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead(b *testing.B) {
	b.SetBytes(int64(len(sample)))
	b.ReportAllocs()
	for b.Loop() {
		readSample(b)
	}
}

// BenchmarkReadRatio alternates between the ways to read, so that a busy machine
// affects all of them alike. Reading against a table has to cost about as much as
// plain decoding.
func BenchmarkReadRatio(b *testing.B) {
	var read, tokens, structs time.Duration
	spend := func(on *time.Duration, work func(*testing.B)) {
		start := time.Now()
		for range 20 {
			work(b)
		}
		*on += time.Since(start)
	}
	for b.Loop() {
		spend(&read, readSample)
		spend(&tokens, bareTokens)
		spend(&structs, bareStruct)
	}
	b.ReportMetric(float64(read)/float64(tokens), "x-tokens")
	b.ReportMetric(float64(read)/float64(structs), "x-struct")
}
