package engine

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// sqliteConn is a connection to a SQLite file with its prepared statements.
type sqliteConn struct {
	db       *sql.DB
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

// check refuses a file system on which commits would not be durable: SQLite then
// silently uses other settings than it was given.
func (h *sqliteConn) check(ctx context.Context) error {
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
		return fmt.Errorf("SQLite cannot make writes durable here: journal_mode is %s, synchronous is %d", journal, synchronous)
	}
	return nil
}

// tx returns the transaction that was begun on the connection. shared means
// that it also contains the work of other callers.
func (h *sqliteConn) tx(shared bool) *Tx {
	return &Tx{dialect: sqliteDialect, runner: h, shared: shared}
}

// run executes a statement that controls transactions.
func (h *sqliteConn) run(text string) error {
	_, err := h.exec(context.Background(), text, nil)
	return sqliteDialect.wrap(err)
}

// query runs a prepared statement that returns rows.
func (h *sqliteConn) query(ctx context.Context, text string, args []any) (Rows, error) {
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

// exec runs a prepared statement that returns a count.
func (h *sqliteConn) execEarly(ctx context.Context, text string, args []any) error {
	_, err := h.exec(ctx, text, args)
	return err
}

func (h *sqliteConn) exec(ctx context.Context, text string, args []any) (int64, error) {
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

// prepare caches every statement. Their number is that of the texts in the
// program, since values are parameters, and parsing costs more than running.
func (h *sqliteConn) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
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

func (h *sqliteConn) close() error {
	for _, statement := range h.prepared {
		_ = statement.Close() // the connection ends too
	}
	var err error
	if h.conn != nil {
		err = h.conn.Close()
	}
	return sqliteDialect.wrap(errors.Join(err, h.db.Close()))
}
