package contract

import "time"

// Example requests, in the order in which you would send them. They work one
// after the other on a fresh demo and return the responses shown beside them. A
// test sends them all.
const (
	ExampleAccount = `{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001",` +
		`"customers":[{"given_name":"Ada","family_name":"Example","email":"ada@example.com","landline":"020 7946 0018"}],` +
		`"last_billed_to_date":"2025-10-31"}`

	ExampleProcess = `{"import_supplier_code":"DEMO_ENERGY","external_account_number":"EXT-0001",` +
		`"operations_team_name":"Migration Team"}`

	ExampleRun = `{"import_supplier_code":"DEMO_ENERGY","operations_team_name":"Migration Team"}`

	ExampleNotes = `{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001",` +
		`"notes":[{"body":"Prefers to be called in the evening.","created_at":"2025-11-03T18:20:00Z","is_pinned":true}]}`

	ExampleTransactions = `{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001",` +
		`"transactions":[` + exampleTransaction + `]}`

	ExampleStatements = `{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001",` +
		`"statements":[{"statement_id":"ST-77","bill_period_from_date":"2025-07-01","bill_period_to_date":"2025-09-30",` +
		`"issued_date":"2025-10-02","number":"77","gross_amount":184.1,"statement_path":"statements/ST-77.pdf"}]}`

	ExampleInstruction = `{"import_supplier":"DEMO_ENERGY","external_account_number":"EXT-0001",` +
		`"vendor":"SANDBOX","reference":"pm_1001","type":"CARD"}`

	ExampleControlTotals = `{"accounts":2,"customers":2,"notes":1,"currencies":[{"currency":"GBP","balances":52.5,` +
		`"transactions":[{"type":"PAYMENT","count":1,"amount":52.5}]}]}`
)

const exampleTransaction = `{"transaction_id":"T-1001","transaction_date":"2025-11-03","amount":52.5,` +
	`"type":"PAYMENT","reference":"NOV-DD","payment_type":"DD_REGULAR_COLLECTION"}`

// The account of the example responses.
const (
	exampleSupplier  = "DEMO_ENERGY"
	exampleExternal  = "EXT-0001"
	exampleNumber    = "A-7K2M9QXZ"
	exampleReference = "pm_1001"
)

var exampleInstant = time.Date(2026, 3, 1, 9, 30, 0, 0, time.UTC)
