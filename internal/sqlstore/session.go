package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"landfall"
)

// runner is what *sql.Conn and *sql.Tx have in common.
type runner interface {
	PrepareContext(ctx context.Context, text string) (*sql.Stmt, error)
	ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// session is one open transaction. All SQL of the package passes through it,
// so that every text reaches the database the same way and every error of a
// driver becomes a fault.
type session struct {
	dialect  *dialect
	runner   runner
	prepared map[string]*sql.Stmt // SQLite prepares here; pgx does it by itself
	// shared says that other callers' work is in the same transaction: their
	// work must not end with this caller's patience.
	shared bool
	wrote  bool  // something changed, so there is something to commit
	fatal  error // the first fault: nothing runs after it
}

// errUnstorable refuses text that one of the databases would refuse and the
// other keep: the same store must not depend on the database.
var errUnstorable = errors.New("text holds a NUL or is not UTF-8")

func (s *session) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	ctx, err := s.admit(ctx, args)
	if err != nil {
		return nil, err
	}
	if s.prepared == nil {
		rows, err := s.runner.QueryContext(ctx, s.dialect.text(text), args...)
		return rows, s.note(err)
	}
	statement, err := s.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	rows, err := statement.QueryContext(ctx, args...)
	return rows, s.note(err)
}

// one scans the only row of a query, or answers ErrNotFound.
func (s *session) one(ctx context.Context, text string, args, into []any) error {
	rows, err := s.query(ctx, text, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		if err := s.note(rows.Err()); err != nil {
			return err
		}
		return landfall.ErrNotFound
	}
	if err := rows.Scan(into...); err != nil {
		return s.note(err)
	}
	return s.note(rows.Close())
}

// exec changes rows and tells how many.
func (t *tx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	ctx, err := t.admit(ctx, args)
	if err != nil {
		return 0, err
	}
	var result sql.Result
	if t.prepared == nil {
		result, err = t.runner.ExecContext(ctx, t.dialect.text(text), args...)
	} else {
		var statement *sql.Stmt
		if statement, err = t.prepare(ctx, text); err != nil {
			return 0, err
		}
		result, err = statement.ExecContext(ctx, args...)
	}
	if err != nil {
		return 0, t.note(err)
	}
	count, err := result.RowsAffected()
	if count > 0 {
		t.wrote = true
	}
	return count, t.note(err)
}

// returning is query for a statement that changes rows. Whoever reads a row of
// it must set wrote.
func (t *tx) returning(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return t.query(ctx, text, args...)
}

func (s *session) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if statement, ok := s.prepared[text]; ok {
		return statement, nil
	}
	statement, err := s.runner.PrepareContext(ctx, s.dialect.text(text))
	if err != nil {
		return nil, s.note(err)
	}
	s.prepared[text] = statement
	return statement, nil
}

// admit checks whether a statement may run, and gives the context to run it
// with. SQLite answers an interrupted write by rolling back the transaction
// with everybody's work in it, so there a started statement is let finish.
func (s *session) admit(ctx context.Context, args []any) (context.Context, error) {
	if s.fatal != nil {
		return nil, s.fatal
	}
	if err := ctx.Err(); err != nil {
		return nil, s.dialect.wrap(err)
	}
	for _, arg := range args {
		if text, ok := arg.(string); ok && !storable(text) {
			return nil, errUnstorable
		}
	}
	if s.shared {
		ctx = context.WithoutCancel(ctx)
	}
	return ctx, nil
}

// note turns a driver's error into a fault and ends the transaction with it.
// PostgreSQL does so by itself; SQLite would go on, and after some errors has
// rolled back silently, so that the next statement would run outside any
// transaction.
func (s *session) note(err error) error {
	if err == nil {
		return nil
	}
	err = s.dialect.wrap(err)
	if s.fatal == nil {
		s.fatal = err
	}
	return err
}

// verdict is what becomes of a transaction whose function has returned. A
// fault counts even when the function kept it to itself.
func (s *session) verdict(err error) error {
	if err == nil {
		err = s.fatal
	}
	// Nobody may use the session from now on.
	s.fatal = errEnded
	return err
}

var errEnded = errors.New("the transaction has ended")

// storable reports whether both databases can keep a text as it is.
func storable(text string) bool {
	return strings.IndexByte(text, 0) < 0 && utf8.ValidString(text)
}

func itoa(number int) string { return strconv.Itoa(number) }
