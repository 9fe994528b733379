package engine

import (
	"context"
	"strings"
	"unicode/utf8"
)

// Rows is the result of a query.
type Rows interface {
	Next() bool
	Scan(into ...any) error
	Err() error
	Close() error
}

// runner runs the statements of a transaction on one kind of database.
type runner interface {
	query(ctx context.Context, text string, args []any) (Rows, error)
	exec(ctx context.Context, text string, args []any) (int64, error)
	execEarly(ctx context.Context, text string, args []any) error
	copy(ctx context.Context, tables []Copied) (int64, error)
}

// Tx is an open transaction. All SQL goes through it, so that every driver's error
// becomes a Fault.
type Tx struct {
	dialect *dialect
	runner  runner
	// shared means that other callers' work is in the same transaction: a
	// cancelled context must not end it.
	shared      bool
	asyncCommit bool
	count       int   // statements that ran
	changed     int64 // rows
	fatal       error // the first fault; nothing runs after it
}

// Query runs a query.
func (t *Tx) Query(ctx context.Context, text string, args ...any) (Rows, error) {
	ctx, err := t.check(ctx, args)
	if err != nil {
		return nil, err
	}
	rows, err := t.runner.query(ctx, text, args)
	if err != nil {
		return nil, t.Fail(err)
	}
	return rows, nil
}

// One scans the only row of a query, or returns ErrNotFound.
func (t *Tx) One(ctx context.Context, text string, args, into []any) error {
	rows, err := t.Query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := t.Fail(rows.Err()); err != nil {
			return err
		}
		if err := t.Fail(rows.Close()); err != nil {
			return err
		}
		return ErrNotFound
	}
	if err := rows.Scan(into...); err != nil {
		return t.Fail(err)
	}
	return t.Fail(rows.Close())
}

// Exec runs a statement and returns the number of changed rows.
func (t *Tx) Exec(ctx context.Context, text string, args ...any) (int64, error) {
	ctx, err := t.check(ctx, args)
	if err != nil {
		return 0, err
	}
	count, err := t.runner.exec(ctx, text, args)
	t.changed += count
	return count, t.Fail(err)
}

// ExecEarly runs a statement that takes locks and whose result does not matter. If it
// is the first one of the transaction, it is sent together with the next one, which
// sees everything that was committed before the locks were taken.
func (t *Tx) ExecEarly(ctx context.Context, text string, args ...any) error {
	ctx, err := t.check(ctx, args)
	if err != nil {
		return err
	}
	return t.Fail(t.runner.execEarly(ctx, text, args))
}

// Arrays reports whether rows are best written as one array per column.
func (t *Tx) Arrays() bool { return t.dialect.arrays }

// SingleWriter reports whether no other transaction writes meanwhile.
func (t *Tx) SingleWriter() bool { return !t.dialect.arrays }

// AsyncCommit lets the commit not wait for the disk, so that a crash of the
// database may lose it.
func (t *Tx) AsyncCommit() { t.asyncCommit = true }

// Statements returns the number of statements that ran.
func (t *Tx) Statements() int { return t.count }

// check decides whether a statement may run, and returns the context for it.
// SQLite rolls back the whole shared transaction when a write is interrupted, so
// there statements are not cancelled.
func (t *Tx) check(ctx context.Context, args []any) (context.Context, error) {
	if t.fatal != nil {
		return nil, t.fatal
	}
	if err := ctx.Err(); err != nil {
		return nil, callerGone(err)
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

// Fail turns a driver's error into a Fault and lets no other statement run.
// PostgreSQL does that by itself; SQLite would go on, and after some errors it has
// rolled back, so that the next statement would run outside any transaction.
func (t *Tx) Fail(err error) error {
	if err == nil {
		return nil
	}
	err = t.dialect.wrap(err)
	if t.fatal == nil {
		t.fatal = err
	}
	return err
}

// finish returns the error of a transaction whose function has returned. A fault
// counts even if the function ignored it.
func (t *Tx) finish(err error) error {
	if err == nil {
		err = t.fatal
	}
	// No statement may run after the end.
	t.fatal = errEnded
	return err
}

// Storable reports whether both databases can store a text unchanged.
func Storable(text string) bool {
	return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}
