package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"strings"
)

// sqliteEnd is a SQLite file that is copied or filled.
type sqliteEnd struct {
	file   sqliteFile
	schema *schema
	conn   *sql.Conn
	held   *fileLock
}

// transferRows is how many rows one transaction or COPY writes.
const transferRows = 10_000

// transferEnd takes the lock of the file later: creating the schema needs it too.
func (f sqliteFile) transferEnd(_ context.Context, s *schema) (transferEnd, error) {
	return &sqliteEnd{file: f, schema: s}, nil
}

// sameFile reports whether two names mean the same file.
func sameFile(one, other string) bool {
	if one == other {
		return true
	}
	first, err := os.Stat(one)
	if err != nil {
		return false
	}
	second, err := os.Stat(other)
	return err == nil && os.SameFile(first, second)
}

func (e *sqliteEnd) connection() *sql.Conn { return e.conn }

// lock takes the lock that a server takes. Commands can write without it, so the
// transaction of a reader also keeps all other writers out.
func (e *sqliteEnd) lock(ctx context.Context, reads bool) (err error) {
	if e.held, err = lockFile(ctx, string(e.file), lockCopying); err != nil {
		return err
	}
	if e.conn, err = e.schema.db.Conn(ctx); err != nil {
		return err
	}
	first := `PRAGMA foreign_keys = OFF` // finish checks them
	if reads {
		first = `BEGIN IMMEDIATE`
	}
	_, err = e.conn.ExecContext(ctx, first)
	return sqliteDialect.wrap(err)
}

func (e *sqliteEnd) tables(ctx context.Context) ([]transferTable, error) {
	return readTables(ctx, e.conn, `SELECT m.name, c.name, c.type FROM sqlite_schema m JOIN pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.name`)
}

// readTables reads names of tables and names and types of columns.
func readTables(ctx context.Context, conn *sql.Conn, text string) (tables []transferTable, err error) {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var table string
		var column transferColumn
		if err := rows.Scan(&table, &column.name, &column.kind); err != nil {
			return nil, err
		}
		if len(tables) == 0 || tables[len(tables)-1].name != table {
			tables = append(tables, transferTable{name: table})
		}
		last := &tables[len(tables)-1]
		last.columns = append(last.columns, column)
	}
	return tables, rows.Err()
}

func (e *sqliteEnd) read(table transferTable) string {
	return `SELECT ` + quoteNames(table.names()) + ` FROM ` + quoteName(table.name)
}

// empty removes the triggers while it deletes.
func (e *sqliteEnd) empty(ctx context.Context, tables []transferTable) error {
	return e.inTransaction(ctx, func() error {
		triggers := map[string]string{}
		rows, err := e.conn.QueryContext(ctx, `SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var name, text string
			if err := rows.Scan(&name, &text); err != nil {
				return err
			}
			triggers[name] = text
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			return err
		}
		var texts []string
		for name := range triggers {
			texts = append(texts, `DROP TRIGGER `+quoteName(name))
		}
		for _, table := range tables {
			texts = append(texts, `DELETE FROM `+quoteName(table.name))
		}
		for _, text := range triggers {
			texts = append(texts, text)
		}
		for _, text := range append(texts, `DELETE FROM sqlite_sequence`) {
			if _, err := e.conn.ExecContext(ctx, text); err != nil {
				return err
			}
		}
		return nil
	})
}

// inTransaction runs work in a transaction.
func (e *sqliteEnd) inTransaction(ctx context.Context, work func() error) error {
	if _, err := e.conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return err
	}
	if err := work(); err != nil {
		_, undo := e.conn.ExecContext(context.WithoutCancel(ctx), `ROLLBACK`)
		return errors.Join(err, undo)
	}
	_, err := e.conn.ExecContext(ctx, `COMMIT`)
	return err
}

// write inserts rows in transactions of a fixed size, so that the log stays small.
func (e *sqliteEnd) write(ctx context.Context, table transferTable, next func() ([]any, error)) error {
	//nolint:gosec,sqlclosecheck // the names are quoted, and the statement is closed below
	insert, err := e.conn.PrepareContext(ctx, `INSERT INTO `+quoteName(table.name)+` (`+quoteNames(table.names())+`)
		VALUES (?`+strings.Repeat(`, ?`, len(table.columns)-1)+`)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	for more := true; more; {
		err := e.inTransaction(ctx, func() error {
			for range transferRows {
				row, err := next()
				if more = row != nil; err != nil || !more {
					return err
				}
				if _, err := insert.ExecContext(ctx, row...); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *sqliteEnd) counters(ctx context.Context) (map[string]int64, error) {
	return readCounters(ctx, e.conn, `SELECT name, seq FROM sqlite_sequence`)
}

// readCounters reads the names of tables and the last value of each one's counter.
func readCounters(ctx context.Context, conn *sql.Conn, text string) (map[string]int64, error) {
	rows, err := conn.QueryContext(ctx, text)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counters := map[string]int64{}
	for rows.Next() {
		var table string
		var last int64
		if err := rows.Scan(&table, &last); err != nil {
			return nil, err
		}
		counters[table] = last
	}
	return counters, rows.Err()
}

// continueAfter raises the counters of tables that have one. The others continue after the
// highest row, and those with a counter do so already.
func (e *sqliteEnd) continueAfter(ctx context.Context, counters map[string]int64) error {
	for table, last := range counters {
		for _, text := range []string{
			`INSERT INTO sqlite_sequence (name, seq) SELECT m.name, 0 FROM sqlite_schema m WHERE m.name = ?2 AND m.sql LIKE '%AUTOINCREMENT%'
				AND ?1 > 0 AND NOT EXISTS (SELECT 1 FROM sqlite_sequence s WHERE s.name = m.name)`,
			`UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = ?2`,
		} {
			if _, err := e.conn.ExecContext(ctx, text, last, table); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *sqliteEnd) finish(ctx context.Context) error {
	var wrong int64
	err := e.conn.QueryRowContext(ctx, `SELECT count(*) FROM pragma_foreign_key_check`).Scan(&wrong)
	if err == nil && wrong > 0 {
		err = fmt.Errorf("%d rows refer to rows that do not exist", wrong)
	}
	return err
}

func (e *sqliteEnd) close() error {
	var err error
	if e.conn != nil {
		err = e.conn.Close()
	}
	return errors.Join(err, e.schema.close(), e.held.close())
}
