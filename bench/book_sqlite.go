package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// rowsTogether is the number of rows per commit of the bare writer.
const rowsTogether = 5_000

// rewriteTables writes the rows of a SQLite database again, into tables and
// indexes like the originals, and returns how long the writing took.
func rewriteTables(ctx context.Context, m *harness, database string) (time.Duration, error) {
	// Read-only: the server has stopped, and this arm must not change what it
	// is compared with.
	from, err := sql.Open("sqlite", strings.TrimPrefix(database, "sqlite:")+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }()
	to, err := m.bareSQLite("raw-book")
	if err != nil {
		return 0, err
	}
	// Remove the copy before the rows are written another time.
	defer func() { _ = os.Remove(filepath.Join(m.folder, "raw-book.db")) }()
	defer func() { _ = to.Close() }()
	// Create tables and indexes before the clock starts, as for the product.
	tables, err := likeSQLite(ctx, from, to)
	if err != nil {
		return 0, err
	}
	total := time.Duration(0)
	for _, table := range tables {
		took, err := rewriteTable(ctx, from, to, table)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", table, err)
		}
		total += took
	}
	return total, nil
}

// likeSQLite creates tables and indexes like those of another database and
// returns the names of the tables.
func likeSQLite(ctx context.Context, from, to *sql.DB) (tables []string, err error) {
	// Ordering by type puts tables before indexes.
	rows, err := from.QueryContext(ctx, `SELECT type, name, sql FROM sqlite_master
		WHERE type IN ('table', 'index') AND sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY type DESC`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var kind, name, text string
		if err := rows.Scan(&kind, &name, &text); err != nil {
			return nil, err
		}
		if _, err := to.ExecContext(ctx, text); err != nil {
			return nil, err
		}
		if kind == "table" {
			tables = append(tables, name)
		}
	}
	return tables, rows.Err()
}

// rewriteTable copies one table. Only the writing is timed.
func rewriteTable(ctx context.Context, from, to *sql.DB, table string) (took time.Duration, err error) {
	rows, err := from.QueryContext(ctx, fmt.Sprintf(`SELECT * FROM %q`, table))
	if err != nil {
		return 0, err
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		return 0, err
	}
	insert := fmt.Sprintf(`INSERT INTO %q VALUES (?%s)`, table, strings.Repeat(", ?", len(columns)-1))
	for more := true; more; {
		// Read the rows first, so that only the writing is timed.
		var batch [][]any
		for more = rows.Next(); more; more = len(batch) < rowsTogether && rows.Next() {
			row, places := make([]any, len(columns)), make([]any, len(columns))
			for i := range row {
				places[i] = &row[i]
			}
			if err := rows.Scan(places...); err != nil {
				return 0, err
			}
			batch = append(batch, row)
		}
		began := time.Now()
		if err := writeRows(ctx, to, insert, batch); err != nil {
			return 0, err
		}
		took += time.Since(began)
		more = len(batch) == rowsTogether
	}
	return took, rows.Err()
}

// writeRows writes rows in one transaction with a prepared statement.
func writeRows(ctx context.Context, to *sql.DB, insert string, batch [][]any) error {
	if len(batch) == 0 {
		// The last batch can be empty, and an empty commit would still count.
		return nil
	}
	tx, err := to.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	statement, err := tx.PrepareContext(ctx, insert)
	if err != nil {
		return err
	}
	for _, row := range batch {
		if _, err := statement.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// lines returns the rows of a query with one column.
func (m *harness) lines(ctx context.Context, database, query string) ([]string, error) {
	// ANALYZE first, because the number of rows is read from the statistics.
	output, err := exec.CommandContext(ctx, "psql", "-X", "-q", "-A", "-t", "-c", "ANALYZE", "-c", query, database).Output()
	if err != nil {
		return nil, fmt.Errorf("psql: %w", err)
	}
	return strings.Fields(string(output)), nil
}
