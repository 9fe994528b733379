package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

// postgresEnd is a PostgreSQL database that is copied or filled.
type postgresEnd struct {
	schema *schema
	conn   *sql.Conn
	unlock func() error
	guard  *sql.Tx // keeps writers away from a database that is filled
}

func (p *postgresServer) transferEnd(ctx context.Context, s *schema) (transferEnd, error) {
	if s.options.BeforeSteps != nil {
		// A new database has no table to look for servers in.
		if has, _, err := s.versions(ctx); err != nil || has > 0 {
			if err = errors.Join(err, s.options.BeforeSteps(ctx, s.db)); err != nil {
				return nil, err
			}
		}
	}
	return &postgresEnd{schema: s}, nil
}

func (e *postgresEnd) connection() *sql.Conn { return e.conn }

// lock takes the lock for changes of the schema. Every writing transaction inserts a mark, so
// a lock of the table of marks keeps all writers away, even a server that starts just now.
func (e *postgresEnd) lock(ctx context.Context, reads bool) (err error) {
	if e.conn, err = e.schema.db.Conn(ctx); err != nil {
		return err
	}
	if !reads {
		_, err = e.conn.ExecContext(ctx, `SET statement_timeout = 0`)
		if err == nil {
			e.unlock, err = lockSchema(ctx, e.schema.db)
		}
		if err == nil {
			e.guard, err = e.schema.db.BeginTx(ctx, nil)
		}
		for _, text := range []string{`SET LOCAL statement_timeout = 0`, `SET LOCAL idle_in_transaction_session_timeout = 0`} {
			if err == nil {
				_, err = e.guard.ExecContext(ctx, text)
			}
		}
		if err == nil {
			err = lockMarks(ctx, e.guard)
		}
		return err
	}
	for _, text := range []string{
		`BEGIN ISOLATION LEVEL REPEATABLE READ`, `SET LOCAL statement_timeout = 0`, `SET LOCAL idle_in_transaction_session_timeout = 0`,
	} {
		if _, err := e.conn.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	// The snapshot is taken by the first query after the lock.
	if err := lockMarks(ctx, e.conn); err != nil {
		return err
	}
	var mine bool
	if err := e.conn.QueryRowContext(ctx, `SELECT pg_try_advisory_xact_lock($1)`, int64(schemaLock)).Scan(&mine); err != nil {
		return err
	}
	if !mine {
		return errors.New("its schema is being changed, or both names mean the same database")
	}
	return nil
}

// lockMarks waits for all writers and keeps later ones waiting.
func lockMarks(ctx context.Context, in interface {
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
},
) error {
	if _, err := in.ExecContext(ctx, `LOCK TABLE commit_mark IN SHARE MODE`); err != nil {
		return fmt.Errorf("it cannot be locked against writes; stop all servers and commands that use it: %w", postgresDialect.wrap(err))
	}
	return nil
}

// tables sorts the tables so that those that others refer to come first.
func (e *postgresEnd) tables(ctx context.Context) ([]transferTable, error) {
	found, err := readTables(ctx, e.conn, `SELECT c.relname, a.attname, format_type(a.atttypid, NULL)
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace ORDER BY c.relname, a.attname`)
	if err != nil {
		return nil, err
	}
	rows, err := e.conn.QueryContext(ctx, `SELECT f.relname, t.relname FROM pg_constraint c JOIN pg_class f ON f.oid = c.conrelid JOIN pg_class t ON t.oid = c.confrelid
		WHERE c.contype = 'f' AND f.oid <> t.oid AND f.relnamespace = current_schema()::regnamespace`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	needs := map[string][]string{}
	for rows.Next() {
		var from, to string
		if err := rows.Scan(&from, &to); err != nil {
			return nil, err
		}
		needs[from] = append(needs[from], to)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	var sorted []transferTable
	placed := map[string]bool{}
	for len(sorted) < len(found) {
		before := len(sorted)
		for _, table := range found {
			if !placed[table.name] && !slices.ContainsFunc(needs[table.name], func(name string) bool { return !placed[name] }) {
				placed[table.name] = true
				sorted = append(sorted, table)
			}
		}
		if len(sorted) == before {
			return nil, errors.New("tables refer to each other in a circle")
		}
	}
	return sorted, nil
}

// read returns JSON as the text that was stored.
func (e *postgresEnd) read(table transferTable) string {
	columns := make([]string, len(table.columns))
	for i, column := range table.columns {
		columns[i] = quoteName(column.name)
		if column.kind == "json" {
			columns[i] += "::text"
		}
	}
	return `SELECT ` + strings.Join(columns, ", ") + ` FROM ` + quoteName(table.name)
}

// empty switches the triggers off while it deletes, which only the owner of the tables may.
func (e *postgresEnd) empty(ctx context.Context, tables []transferTable) error {
	tx, err := e.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	names := make([]string, len(tables))
	for i, table := range tables {
		names[i] = table.name
		if _, err := tx.ExecContext(ctx, `ALTER TABLE `+quoteName(table.name)+` DISABLE TRIGGER USER`); err != nil {
			return err
		}
	}
	if _, err := tx.ExecContext(ctx, `TRUNCATE `+quoteNames(names)+` RESTART IDENTITY`); err != nil {
		return err
	}
	for _, name := range names {
		if _, err := tx.ExecContext(ctx, `ALTER TABLE `+quoteName(name)+` ENABLE TRIGGER USER`); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// write sends rows with COPY, a fixed number at a time: the server keeps a note of each row
// of a statement whose references it has to check.
func (e *postgresEnd) write(ctx context.Context, table transferTable, next func() ([]any, error)) error {
	return e.conn.Raw(func(driver any) error {
		conn := driver.(*stdlib.Conn).Conn() //nolint:forcetypeassert // openEnd opened it
		rows := &copyRows{table: table, next: next}
		for !rows.ended {
			rows.left = transferRows
			if _, err := conn.CopyFrom(ctx, pgx.Identifier{table.name}, table.names(), rows); err != nil {
				return err
			}
		}
		return nil
	})
}

// copyRows passes rows to the driver.
type copyRows struct {
	table transferTable
	next  func() ([]any, error)
	left  int
	ended bool
	row   []any
	err   error
}

// Next reads the next row.
func (r *copyRows) Next() bool {
	if r.left == 0 {
		return false
	}
	r.left--
	r.row, r.err = r.next()
	r.ended = r.row == nil
	return !r.ended
}

// Values returns the row with booleans where the column is one.
func (r *copyRows) Values() ([]any, error) {
	row := slices.Clone(r.row)
	for i, value := range row {
		if number, ok := value.(int64); ok && r.table.columns[i].kind == "boolean" {
			row[i] = number != 0
		}
	}
	return row, nil
}

// Err returns the error that ended the rows.
func (r *copyRows) Err() error { return r.err }

// identityColumns selects the tables and columns with a counter.
const identityColumns = `FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attidentity <> ''
	WHERE c.relnamespace = current_schema()::regnamespace`

func (e *postgresEnd) counters(ctx context.Context) (map[string]int64, error) {
	return readCounters(ctx, e.conn, `SELECT c.relname, coalesce(pg_sequence_last_value(pg_get_serial_sequence(quote_ident(c.relname), a.attname)::regclass), 0) `+identityColumns)
}

func (e *postgresEnd) continueAfter(ctx context.Context, counters map[string]int64) error {
	rows, err := e.conn.QueryContext(ctx, `SELECT c.relname, a.attname `+identityColumns)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns := map[string]string{}
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			return err
		}
		columns[table] = column
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for table, column := range columns {
		//nolint:gosec // the names are quoted
		if _, err := e.conn.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence(quote_ident($1), $2), last) FROM
			(SELECT greatest($3::bigint, max(`+quoteName(column)+`)) AS last FROM `+quoteName(table)+`) found WHERE last > 0`, table, column, counters[table]); err != nil {
			return fmt.Errorf("the counter of table %s: %w", table, err)
		}
	}
	return nil
}

// finish updates the statistics, without which the first statements would be slow.
func (e *postgresEnd) finish(ctx context.Context) error {
	_, err := e.conn.ExecContext(ctx, `ANALYZE (SKIP_LOCKED)`) // all but the table of marks
	return err
}

func (e *postgresEnd) close() error {
	var err error
	if e.guard != nil {
		_ = e.guard.Rollback() // it wrote nothing
	}
	if e.unlock != nil {
		err = e.unlock()
	}
	if e.conn != nil {
		err = errors.Join(err, e.conn.Close())
	}
	return errors.Join(err, e.schema.close())
}
