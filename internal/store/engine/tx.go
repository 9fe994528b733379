package engine

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Rows is the answer to a query, row by row.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}

// runner is how one kind of database runs the statements of a transaction.
type runner interface {
	query(ctx context.Context, text string, args []any) (Rows, error)
	exec(ctx context.Context, text string, args []any) (int64, error)
	copy(ctx context.Context, tables []Copied) (int64, error)
}

// Tx is one open transaction. All SQL passes through it, so that every text
// reaches the database the same way and every error of a driver becomes a fault.
type Tx struct {
	dialect *dialect
	runner  runner
	// shared says that other callers' work is in the same transaction: it must
	// not end with this caller's patience.
	shared  bool
	lazy    bool
	count   int   // of the statements that ran
	changed int64 // rows, as far as was told
	fatal   error // the first fault: nothing runs after it
}

// Query asks for rows.
func (t *Tx) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	ctx, err := t.admit(ctx, args)
	if err != nil {
		return nil, err
	}
	rows, err := t.runner.query(ctx, text, args)
	if err != nil {
		return nil, t.Note(err)
	}
	return rows, nil
}

// One scans the only row of a query, or answers ErrNotFound.
func (t *Tx) One(ctx context.Context, text string, args, into []any) error {
	rows, err := t.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := t.Note(rows.Err()); err != nil {
			return err
		}
		if err := t.Note(rows.Close()); err != nil {
			return err
		}
		return ErrNotFound
	}
	if err := rows.Scan(into...); err != nil {
		return t.Note(err)
	}
	return t.Note(rows.Close())
}

// Exec changes rows and tells how many.
func (t *Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	ctx, err := t.admit(ctx, args)
	if err != nil {
		return 0, err
	}
	count, err := t.runner.exec(ctx, text, args)
	t.changed += count
	return count, t.Note(err)
}

// Arrays says that rows are best written as one array for each column.
func (t *Tx) Arrays() bool { return t.dialect.arrays }

// Alone says that nobody else writes while this transaction is open.
func (t *Tx) Alone() bool { return !t.dialect.arrays }

// Lazily lets the commit not wait for the disk: a crash of the database may
// forget it. It is for what nobody is promised.
func (t *Tx) Lazily() { t.lazy = true }

// Statements tells how many statements ran.
func (t *Tx) Statements() int { return t.count }

// admit checks whether a statement may run, and gives the context to run it
// with. SQLite answers an interrupted write by rolling back the transaction
// with everybody's work in it, so there a started statement is let finish.
func (t *Tx) admit(ctx context.Context, args []any) (context.Context, error) {
	if t.fatal != nil {
		return nil, t.fatal
	}
	if err := ctx.Err(); err != nil {
		return nil, left(err)
	}
	for _, arg := range args {
		if text, ok := arg.(string); ok && !Storable(text) {
			return nil, ErrUnstorable
		}
	}
	if t.shared {
		ctx = context.WithoutCancel(ctx)
	}
	t.count++
	return ctx, nil
}

// Note turns a driver's error into a fault and ends the transaction with it.
// PostgreSQL does so by itself; SQLite would go on, and after some errors has
// rolled back silently, so that the next statement would run outside any
// transaction.
func (t *Tx) Note(err error) error {
	if err == nil {
		return nil
	}
	err = t.dialect.wrap(err)
	if t.fatal == nil {
		t.fatal = err
	}
	return err
}

// verdict is what becomes of a transaction whose function has returned. A
// fault counts even when the function kept it to itself.
func (t *Tx) verdict(err error) error {
	if err == nil {
		err = t.fatal
	}
	// Nobody may use it from now on.
	t.fatal = errEnded
	return err
}

// Storable reports whether both databases can keep a text as it is.
func Storable(text string) bool {
	return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}
