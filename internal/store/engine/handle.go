package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// handle is one connection to a SQLite file with its prepared statements.
type handle struct {
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// check refuses a file system on which SQLite could not keep its promises: it
// answers such settings by quietly staying with others.
func (h *handle) check(ctx context.Context) error {
	t := h.tx(false)
	var journal string
	var synchronous int
	if err := t.One(ctx, `PRAGMA journal_mode`, nil, []any{&journal}); err != nil {
		return err
	}
	if err := t.One(ctx, `PRAGMA synchronous`, nil, []any{&synchronous}); err != nil {
		return err
	}
	if journal != "wal" || synchronous != 2 {
		return fmt.Errorf("SQLite cannot keep answered writes here: journal_mode is %s, synchronous is %d", journal, synchronous)
	}
	return nil
}

// tx gives the statements of a transaction that was begun already; shared
// says that others' work is in it.
func (h *handle) tx(shared bool) *Tx {
	return &Tx{dialect: sqliteDialect, runner: h, shared: shared}
}

// run executes one of the few statements that steer transactions.
func (h *handle) run(text string) error {
	_, err := h.exec(context.Background(), text, nil)
	return sqliteDialect.wrap(err)
}

// query runs a prepared statement that gives rows.
func (h *handle) query(ctx context.Context, text string, args []any) (Rows, error) {
	statement, err := h.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return nil, err
	}
	return rows, nil
}

// exec runs a prepared statement that gives a count.
func (h *handle) exec(ctx context.Context, text string, args []any) (int64, error) {
	statement, err := h.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := statement.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// prepare keeps every text that was ever run: there are as many as the
// program has, since values travel as parameters, and parsing one costs more
// than running it.
func (h *handle) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement, ok := h.prepared[text]; ok {
		return statement, nil
	}
	statement, err := h.conn.PrepareContext(ctx, sqliteDialect.text(text))
	if err != nil {
		return nil, err
	}
	h.prepared[text] = statement
	return statement, nil
}

// close gives everything back, and with the last connection the file.
func (h *handle) close() error {
	for _, statement := range h.prepared {
		_ = statement.Close() // the connection ends too
	}
	var err error
	if h.conn != nil {
		err = h.conn.Close()
	}
	return sqliteDialect.wrap(errors.Join(err, h.db.Close()))
}
