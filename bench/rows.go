package main

import (
	"fmt"
	"strings"
)

// rawRow is one row of an account: a table, its columns after the account's
// key, and their values as SQL. JSON has a space after each colon, because
// pgbench would take a colon and a word for a variable.
type rawRow struct{ table, columns, values string }

// rawRows are the rows that the program writes for the benchmark account.
var rawRows = []rawRow{
	{"account", "revision, team, account_type, currency, billing_name, last_statement_closing_on, last_statement_issued_on, last_statement_balance, transfer_balance, open_from_on, balance, ledger_length, note_count, statement_count, instruction_count",
		"1, 'Bench Team', 'DOMESTIC', 'GBP', 'Ada Lovelace', '2026-06-30', '2026-07-03', -4210, 790, '2026-07-01', 790, 2, 0, 0, 0"},
	{"customer", "ordinal, given_name, family_name, title, email, mobile, landline, born_on, role",
		"1, 'Ada', 'Lovelace', 'Ms', 'ada.lovelace@mail.co.uk', '+447400123456', '020 7946 0123', '1985-12-10', ''"},
	{"customer", "ordinal, given_name, family_name, title, email, mobile, landline, born_on, role",
		"2, 'Charles', 'Babbage', '', 'charles.babbage@mail.co.uk', '07400 654321', '', NULL, ''"},
	{"address", "ordinal, lines, locality, postal_code, country", `0, '["12 St James''s Square","Westminster","London"]', '', 'SW1Y 4JH', ''`},
	{"address", "ordinal, lines, locality, postal_code, country", `1, '["12 St James''s Square","London"]', '', 'SW1Y 4JH', ''`},
	{"supply_point", "ordinal, address, identifier, supply_type, start_on, end_on", "1, 1, '1200023305967', 'ELECTRICITY', '2024-03-14', NULL"},
	{"supply_point", "ordinal, address, identifier, supply_type, start_on, end_on", "2, 1, '7501234509', 'GAS', '2024-03-14', NULL"},
	{"agreement", "supply_point, ordinal, product_code, from_on, to_on, agreed_at", "1, 1, 'FIXED-12M', '2024-03-14', '2025-03-14', NULL"},
	{"agreement", "supply_point, ordinal, product_code, from_on, to_on, agreed_at", "1, 2, 'FLEX-1', '2025-03-14', NULL, NULL"},
	{"agreement", "supply_point, ordinal, product_code, from_on, to_on, agreed_at", "2, 1, 'FLEX-1', '2024-03-14', NULL, NULL"},
	{"meter", "supply_point, ordinal, serial_number, installed_on, removed_on, registers", `1, 1, 'E12Z004521', '2019-05-02', NULL, '[{"id": "01","digits": 5,"readings": [{"on": "2026-06-30","type": "CUSTOMER","value": "45210"}]}]'`},
	{"meter", "supply_point, ordinal, serial_number, installed_on, removed_on, registers", `2, 1, 'G4A0088123', NULL, NULL, '[{"id": "01","digits": 5}]'`},
	{"statement_period", "ordinal, from_on, to_on, balance", "1, NULL, '2026-06-30', -4210"},
	{"statement_period", "ordinal, from_on, to_on, balance", "2, '2026-07-01', NULL, 0"},
	{"ledger_entry", "transaction_id, sequence, kind, closed, signed, balance, type, entered_on, original_on, reason, note, document", "'', 1, 'opening', TRUE, -4210, -4210, '', '2026-06-30', NULL, '', '', NULL"},
	{"ledger_entry", "transaction_id, sequence, kind, closed, signed, balance, type, entered_on, original_on, reason, note, document",
		`'P-1', 2, 'transaction', FALSE, 5000, 790, 'PAYMENT', '2026-07-05', NULL, 'ACCOUNT_CHARGE_PAYMENT', '', '{"transaction_id": "P-1","transaction_date": "2026-07-05","amount": 50.00,"type": "PAYMENT","payment_type": "DD_REGULAR_COLLECTION","reason": "ACCOUNT_CHARGE_PAYMENT","reference": "DD-77120"}'`},
}

// rawCreation is one statement for pgbench that writes all rows of an account.
func rawCreation() string {
	return rawStatement(`id = (SELECT id FROM raw_process WHERE n = (SELECT nextval('raw_next')))`)
}

// rawCreations does the same for many accounts.
func rawCreations(count int) string {
	return rawStatement(fmt.Sprintf(`id IN (SELECT r.id FROM raw_process r, (SELECT nextval('raw_next') AS n OFFSET 0) b
		WHERE r.n > (b.n - 1) * %d AND r.n <= b.n * %d)`, count, count))
}

// rawStatement creates accounts in a single statement, the least work for
// PostgreSQL.
func rawStatement(which string) string {
	var script strings.Builder
	fmt.Fprintf(&script, `WITH p AS (UPDATE process SET state = 'imported', number = 'R-' || id, account_number = 'R-' || id, account_created_at = 1
	WHERE %s RETURNING id)`, which)
	// Each row in its own WITH clause, so that one statement and one round trip
	// write all of them.
	for i, row := range rawRows {
		fmt.Fprintf(&script, ",\nmade%d AS (INSERT INTO %s (%s, %s) SELECT id, %s FROM p)", i, row.table, row.key(), row.columns, row.values)
	}
	script.WriteString("\nINSERT INTO event (type, supplier, external, account_number, at, details) SELECT 'account_import.completed', 'RAW', 'RAW-' || id, 'R-' || id, 1, '{}' FROM p;\n")
	return script.String()
}

// key is the column with the account's key.
func (r rawRow) key() string {
	if r.table == "account" {
		return "id"
	}
	return "account_id"
}
