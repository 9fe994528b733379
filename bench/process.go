package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"strconv"
	"time"
)

// processPath is the endpoint that creates accounts.
const processPath = "/v1/data-import/account-import-process/process/"

// creations is the number of accounts one arm creates. They are staged first,
// and staging is not timed.
const creations = 12_000

// measureProcessPostgres compares creating accounts with pgbench writing the
// same rows, one account per transaction with all its rows in one statement.
func measureProcessPostgres(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.rawProcesses(ctx, s.database); err != nil {
		return measured{}, err
	}
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) { return s.create(ctx, numbers, creations) },
		func() (sample, error) { return m.pgbench(ctx, s.database, rawCreation(), p.length) })
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: raw.of("accounts by pgbench")}, err
}

// rawProcesses inserts the rows that pgbench imports, under their own supplier.
func (m *harness) rawProcesses(ctx context.Context, database string) error {
	// The rows exist before the clock starts, as staged accounts do in the
	// other arm.
	return m.psql(ctx, database, `CREATE SEQUENCE raw_next`,
		`INSERT INTO supplier (code, name, status, document_root, currency, region, time_zone, send_customer_emails, verify_documents, concurrency_limit, severities, created_at)
			SELECT 'RAW', 'RAW', status, document_root, currency, region, time_zone, FALSE, FALSE, 0, severities, 0 FROM supplier WHERE code = '`+supplier+`'`,
		`CREATE TABLE raw_process (n BIGINT PRIMARY KEY, id BIGINT NOT NULL)`,
		`WITH made AS (INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
			SELECT (SELECT id FROM supplier WHERE code = 'RAW'), 'RAW-' || n, 'staged', 1, '\x00', n, n FROM generate_series(1, 400000) n RETURNING id)
			INSERT INTO raw_process SELECT row_number() OVER (ORDER BY id), id FROM made`,
		`ANALYZE`)
}

// measureProcessSQLite compares creating accounts with a bare program that
// writes the same rows, one transaction per account.
func measureProcessSQLite(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.furnish(ctx, m.sqlite("raw-process")); err != nil {
		return measured{}, err
	}
	db, err := m.bareSQLite("raw-process")
	if err != nil {
		return measured{}, err
	}
	defer func() { _ = db.Close() }()
	numbers, rawNumbers := &counter{}, &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.create(ctx, numbers, creations) },
		func() (sample, error) { return createBare(ctx, db, rawNumbers, p.length, 1) })
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: limit.of("accounts by a bare program")}, err
}

// measureProcessGrouped compares creating accounts with a bare group-commit
// writer of the same rows, behind a socket.
func measureProcessGrouped(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.furnish(ctx, m.sqlite("raw-grouped")); err != nil {
		return measured{}, err
	}
	bare, err := startBare(ctx, rowsOf+filepath.Join(m.folder, "raw-grouped.db"))
	if err != nil {
		return measured{}, err
	}
	defer bare.stop()
	numbers, rawNumbers := &counter{}, &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.create(ctx, numbers, creations) },
		func() (sample, error) {
			return bare.load("/", func(_ int64, dst []byte) []byte { return strconv.AppendInt(dst, rawNumbers.last.Add(1), 10) }).run(ctx, p.length)
		})
	return measured{ratio: ratio, ours: ours.of("accounts"), raw: limit.of("accounts by a bare group-commit writer")}, err
}

// bareSQLite opens a file with the product's durability and one connection: a
// second one would only wait.
func (m *harness) bareSQLite(name string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", filepath.Join(m.folder, name+".db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return db, nil
}

// furnish creates a database with the product's schema and the supplier.
func (m *harness) furnish(ctx context.Context, database string) error {
	if _, err := m.tell(ctx, "schema", "apply", "--database", database); err != nil {
		return err
	}
	_, err := m.tell(ctx, "supplier", "create", supplier, "--database", database)
	return err
}

// create stages accounts and returns the rate at which they are created.
func (s *service) create(ctx context.Context, numbers *counter, count int64) (sample, error) {
	first := numbers.last.Load()
	if err := s.stage(ctx, numbers, count); err != nil {
		return sample{}, err
	}
	return s.processing(first, count, false).run(ctx, time.Minute)
}

// prepareBare prepares the statements that write one account. Each has the
// number as its parameter.
func prepareBare(ctx context.Context, db *sql.DB) ([]*sql.Stmt, error) {
	texts := []string{`INSERT INTO process (id, supplier_id, external, state, revision, hash, first_staged_at, staged_at, number, account_number, account_created_at)
		VALUES ($1, 1, 'EXT-' || $1, 'imported', 1, x'00', 1, 1, 'A-' || $1, 'A-' || $1, 1)`}
	// The rows come from the same table as those for pgbench, so that all
	// comparisons write the same account.
	for _, row := range rawRows {
		texts = append(texts, fmt.Sprintf("INSERT INTO %s (%s, %s) VALUES ($1, %s)", row.table, row.key(), row.columns, row.values))
	}
	texts = append(texts, `INSERT INTO event (type, supplier, external, account_number, at, details)
		VALUES ('account_import.completed', 'BENCH', 'EXT-' || $1, 'A-' || $1, 1, '{}')`)
	statements := make([]*sql.Stmt, len(texts))
	for i, text := range texts {
		var err error
		if statements[i], err = db.PrepareContext(ctx, text); err != nil {
			return nil, err
		}
	}
	return statements, nil
}

// createBare writes accounts one after the other, a number of them per
// transaction.
func createBare(ctx context.Context, db *sql.DB, numbers *counter, length time.Duration, together int) (sample, error) {
	statements, err := prepareBare(ctx, db)
	if err != nil {
		return sample{}, err
	}
	written, started := 0, time.Now()
	for time.Since(started) < length {
		tx, err := db.BeginTx(ctx, nil)
		if err != nil {
			return sample{}, err
		}
		for range together {
			number := numbers.last.Add(1)
			for _, statement := range statements {
				if _, err := tx.StmtContext(ctx, statement).ExecContext(ctx, number); err != nil {
					return sample{}, err
				}
			}
		}
		if err := tx.Commit(); err != nil {
			return sample{}, err
		}
		written += together
	}
	return sample{rate: float64(written) / time.Since(started).Seconds()}, nil
}
