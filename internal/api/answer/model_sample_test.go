package answer_test

import (
	"encoding/json"
	"maps"
	"time"

	"landfall"
	"landfall/internal/lib/money"
)

// sampleDocument is a document that may be staged, with its figures. The figures are
// written by hand, so that they do not depend on the service's own arithmetic.
type sampleDocument struct {
	name    string
	fields  map[string]any
	figures landfall.Figures
	inline  []string // the items the account has from the start, named as in modelledAccount.has
	broken  bool     // it breaks a rule
	doomed  bool     // the vendor does not know its instruction
}

// String returns the specimen's name, for rapid's output.
func (s *sampleDocument) String() string { return s.name }

// GoString returns the specimen's name, for rapid's output.
func (s *sampleDocument) GoString() string { return s.name }

func day(offset int) string { return time.Now().AddDate(0, 0, offset).Format(time.DateOnly) }

// These are the items that may be sent, inline or later. The same name is the
// same item.
var (
	notesSent        = map[string]map[string]any{"n0": {"body": "n0"}, "n1": {"body": "n1"}}
	transactionsSent = map[string]map[string]any{
		"t0": {"transaction_id": "t0", "transaction_date": day(-5), "amount": 5.25, "type": "PAYMENT"},
		"t1": {"transaction_id": "t1", "transaction_date": day(-5), "amount": 2, "type": "CHARGE", "reason": "IMPORTED_CHARGE"},
	}
	statementsSent = map[string]map[string]any{
		"s0": {"statement_id": "s0", "bill_period_from_date": "2025-01-01", "bill_period_to_date": "2025-01-31"},
		"s1": {"statement_id": "s1", "bill_period_from_date": "2025-02-01", "bill_period_to_date": "2025-02-28"},
	}
	instructionsSent = map[string]map[string]any{
		"i0": {"vendor": vendor, "reference": "i0", "type": "CARD"},
		"i1": {"vendor": vendor, "reference": "i1", "type": "CARD"},
	}
)

// These are the indexes of transaction types in landfall.Figures.
const (
	atCharge  = 0
	atPayment = 2
)

// moves adds the effect of a transaction to figures.
func moves(name string, figures *landfall.Figures) {
	switch name {
	case "t0":
		figures.Transactions[atPayment].Count++
		figures.Transactions[atPayment].Amount += 5250
		figures.Balance += 5250
	case "t1":
		figures.Transactions[atCharge].Count++
		figures.Transactions[atCharge].Amount += 2000
		figures.Balance -= 2000
	}
}

var sampleDocuments = []*sampleDocument{
	{
		name: "small", fields: map[string]any{"customers": []any{map[string]any{}}},
		figures: landfall.Figures{Currency: "GBP", Accounts: 1, Customers: 1},
	},
	{
		name: "rich", fields: map[string]any{
			"customers": []any{map[string]any{"family_name": "Lovelace"}, map[string]any{"family_name": "Babbage"}}, "transfer_balance": "10.00",
			"notes": []any{notesSent["n0"]}, "current_statement_transactions": []any{transactionsSent["t0"]},
			"statements": []any{statementsSent["s0"]}, "payment_instructions": []any{instructionsSent["i0"]},
		},
		figures: landfall.Figures{
			Currency: "GBP", Accounts: 1, Customers: 2, Notes: 1, Statements: 1, Instructions: 1, Balance: 10_000,
			Transactions: func() (sums [len(landfall.TransactionTypes)]landfall.TransactionFigures) {
				sums[atPayment] = landfall.TransactionFigures{Count: 1, Amount: 5250}
				return sums
			}(),
		},
		inline: []string{"note n0", "transaction t0", "statement s0", "instruction i0"},
	},
	{
		name: "foreign", fields: map[string]any{
			"customers": []any{map[string]any{}}, "currency": "EUR", "last_statement_balance": -3.5,
			"current_statement_transactions": []any{transactionsSent["t1"]},
		},
		figures: landfall.Figures{
			Currency: "EUR", Accounts: 1, Customers: 1, Balance: -5500,
			Transactions: func() (sums [len(landfall.TransactionTypes)]landfall.TransactionFigures) {
				sums[atCharge] = landfall.TransactionFigures{Count: 1, Amount: 2000}
				return sums
			}(),
		},
		inline: []string{"transaction t1"},
	},
	{
		name: "doomed", doomed: true, fields: map[string]any{
			"customers": []any{map[string]any{}}, "transfer_balance": 7,
			"payment_instructions": []any{map[string]any{"vendor": vendor, "reference": "NOT_FOUND", "type": "CARD"}},
		},
		figures: landfall.Figures{Currency: "GBP", Accounts: 1, Customers: 1, Instructions: 1, Balance: money.Amount(7000)},
	},
	{name: "broken", broken: true, fields: map[string]any{"customers": []any{map[string]any{}}, "transfer_balance": "1.234"}},
}

// document returns the specimen as the document of an account.
func (s *sampleDocument) document(supplier, external string) []byte {
	whole := map[string]any{
		"import_supplier": supplier, "external_account_number": external, "last_statement_closing_date": day(-10),
	}
	maps.Copy(whole, s.fields)
	text, err := json.Marshal(whole)
	if err != nil {
		panic(err)
	}
	return text
}
