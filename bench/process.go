package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

const processPath = "/v1/data-import/account-import-process/process/"

// creations is how many accounts one arm creates; they are staged before, and
// the staging is not timed.
const creations = 12_000

// measureProcessPostgres compares creating accounts with pgbench writing the
// same rows, one account to a transaction and all its rows in one statement.
func measureProcessPostgres(ctx context.Context, p plan, m *machinery) (result, error) {
	database, err := m.freshPostgres(ctx, "process")
	if err != nil {
		return result{}, err
	}
	s, err := m.start(ctx, database)
	if err != nil {
		return result{}, err
	}
	defer s.stop()
	// The rows pgbench imports stand beside ours, under a supplier of their own.
	if err := m.psql(ctx, database, `CREATE SEQUENCE raw_next`,
		`INSERT INTO supplier (code, name, status, document_root, currency, region, time_zone, send_customer_emails, verify_documents, concurrency_limit, severities, created_at)
			SELECT 'RAW', 'RAW', status, document_root, currency, region, time_zone, FALSE, FALSE, 0, severities, 0 FROM supplier WHERE code = '`+supplier+`'`,
		`CREATE TABLE raw_process (n BIGINT PRIMARY KEY, id BIGINT NOT NULL)`,
		`WITH made AS (INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
			SELECT (SELECT id FROM supplier WHERE code = 'RAW'), 'RAW-' || n, 'staged', 1, '\x00', n, n FROM generate_series(1, 400000) n RETURNING id)
			INSERT INTO raw_process SELECT row_number() OVER (ORDER BY id), id FROM made`,
		`ANALYZE`); err != nil {
		return result{}, err
	}
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (float64, error) { return s.create(ctx, numbers, creations) },
		func() (float64, error) { return m.pgbench(ctx, database, rawCreation(), p.length) })
	return result{ratio: ratio, ours: perSecond(ours, "accounts"), raw: perSecond(raw, "accounts by pgbench")}, err
}

// measureProcessSQLite compares creating accounts with a bare program that
// writes the same rows, one transaction to an account.
func measureProcessSQLite(ctx context.Context, p plan, m *machinery) (result, error) {
	s, err := m.start(ctx, m.sqlite("process"))
	if err != nil {
		return result{}, err
	}
	defer s.stop()
	raw := m.sqlite("raw-process")
	if _, err := m.tell(ctx, "schema", "apply", "--database", raw); err != nil {
		return result{}, err
	}
	if _, err := m.tell(ctx, "supplier", "create", supplier, "--database", raw); err != nil {
		return result{}, err
	}
	db, err := sql.Open("sqlite", filepath.Join(m.folder, "raw-process.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return result{}, err
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	numbers, rawNumbers := &counter{}, &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (float64, error) { return s.create(ctx, numbers, creations) },
		func() (float64, error) { return createBare(ctx, db, rawNumbers, p.length) })
	return result{ratio: ratio, ours: perSecond(ours, "accounts"), raw: perSecond(limit, "accounts by a bare program")}, err
}

// create stages accounts, then gives the rate at which they are created.
func (s *service) create(ctx context.Context, numbers *counter, count int64) (float64, error) {
	first := numbers.last.Load()
	staging := s.load(stagePath, numbers.account)
	staging.most = count
	if _, err := staging.run(ctx, time.Minute); err != nil {
		return 0, fmt.Errorf("staging: %w", err)
	}
	creating := s.load(processPath, func(n int64, dst []byte) []byte {
		dst = append(dst, `{"import_supplier_code":"`+supplier+`","operations_team_name":"Bench Team","external_account_number":"EXT-`...)
		dst = strconv.AppendInt(dst, accountOffset+first+n, 10)
		return append(dst, `"}`...)
	})
	creating.most = count
	return creating.run(ctx, time.Minute)
}

// rawRow is one row an account consists of: a table, its columns after the
// account's key, and values for them as SQL. Their JSON has a space behind each
// colon: pgbench would take a colon and a word for a variable.
type rawRow struct{ table, columns, values string }

// rawRows are the rows the program writes for the benchmark's account.
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

// rawCreation folds all rows of an account into one statement for pgbench.
func rawCreation() string {
	var script strings.Builder
	script.WriteString(`WITH p AS (UPDATE process SET state = 'imported', account_number = 'R-' || id, account_created_at = 1
	WHERE id = (SELECT id FROM raw_process WHERE n = (SELECT nextval('raw_next'))) RETURNING id)`)
	for i, row := range rawRows {
		fmt.Fprintf(&script, ",\nmade%d AS (INSERT INTO %s (%s, %s) SELECT id, %s FROM p)", i, row.table, row.key(), row.columns, row.values)
	}
	script.WriteString("\nINSERT INTO event (type, supplier, external, account_number, at, details) SELECT 'account_import.completed', 'RAW', 'RAW-' || id, 'R-' || id, 1, '{}' FROM p;\n")
	return script.String()
}

// key is the column that names the account.
func (r rawRow) key() string {
	if r.table == "account" {
		return "id"
	}
	return "account_id"
}

// createBare writes accounts one after the other, as one would by hand.
func createBare(ctx context.Context, db *sql.DB, numbers *counter, length time.Duration) (float64, error) {
	statements := make([]*sql.Stmt, 0, len(rawRows)+2)
	prepare := func(text string) error {
		statement, err := db.PrepareContext(ctx, text)
		statements = append(statements, statement)
		return err
	}
	if err := prepare(`INSERT INTO process (id, supplier_id, external, state, revision, hash, first_staged_at, staged_at, account_number, account_created_at)
		VALUES ($1, 1, 'EXT-' || $1, 'imported', 1, x'00', 1, 1, 'A-' || $1, 1)`); err != nil {
		return 0, err
	}
	for _, row := range rawRows {
		if err := prepare(fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES ($1, %s)", row.table, row.key(), row.columns, row.values)); err != nil {
			return 0, err
		}
	}
	if err := prepare(`INSERT INTO event (type, supplier, external, account_number, at, details)
		VALUES ('account_import.completed', 'BENCH', 'EXT-' || $1, 'A-' || $1, 1, '{}')`); err != nil {
		return 0, err
	}
	written, started := 0, time.Now()
	for time.Since(started) < length {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return 0, err
		}
		number := numbers.last.Add(1)
		for _, statement := range statements {
			if _, err := tx.StmtContext(ctx, statement).ExecContext(ctx, number); err != nil {
				return 0, err
			}
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
		written++
	}
	return float64(written) / time.Since(started).Seconds(), nil
}
