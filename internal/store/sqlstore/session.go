package sqlstore

import (
	"context"
	"errors"
	"sync/atomic"

	"landfall"
	"landfall/internal/store/engine"
)

// txSession is the engine's transaction in the words of this package: absent
// rows and trouble become the dictionary's.
type txSession struct {
	engine   *engine.Tx
	sealer   *sealer
	expected *atomic.Int32 // what is staged next, likely
}

// view reads within one transaction.
type view struct{ *txSession }

// tx reads and writes within one transaction. Only an update and a batch hand
// one out, so nothing can be written outside a transaction.
type tx struct{ view }

// query gives errors in the dictionary's words.
func (s *txSession) query(ctx context.Context, text string, args ...any) (engine.Rows, error) {
	rows, err := s.engine.Query(ctx, text, args...)
	return rows, translate(err)
}

// one scans the only row of a query, or answers ErrNotFound.
func (s *txSession) one(ctx context.Context, text string, args, into []any) error {
	return translate(s.engine.One(ctx, text, args, into))
}

// note turns a driver's error into a fault and ends the transaction with it.
func (s *txSession) note(err error) error { return translate(s.engine.Fail(err)) }

// exec changes rows and tells how many.
func (t *tx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	count, err := t.engine.Exec(ctx, text, args...)
	return count, translate(err)
}

// returning is query for a statement that changes rows.
func (t *tx) returning(ctx context.Context, text string, args ...any) (engine.Rows, error) {
	return t.query(ctx, text, args...)
}

// errUnstorable refuses text that one of the databases would refuse and the
// other keep: the same store must not depend on the database.
var errUnstorable = engine.ErrUnstorable

// storable reports whether both databases can keep a text as it is.
func storable(text string) bool { return engine.Storable(text) }

// storeError is an error of the engine in the dictionary's words.
type storeError struct{ word, cause error }

// Error is the engine's own text.
func (t *storeError) Error() string { return t.cause.Error() }

// Unwrap gives both to errors.Is.
func (t *storeError) Unwrap() []error { return []error{t.word, t.cause} }

// errorMap says what the engine's sentinels are called outside, the more exact
// ones first.
var errorMap = []struct{ engine, outside error }{
	{engine.ErrNotFound, landfall.ErrNotFound},
	{engine.ErrUnknownOutcome, landfall.ErrUnknownOutcome},
	{engine.ErrOverloaded, landfall.ErrOverloaded},
	{engine.ErrUnavailable, landfall.ErrUnavailable},
}

// translate translates an error of the engine. It is the only place that does.
func translate(err error) error {
	var already *storeError
	if err == nil || errors.As(err, &already) {
		return err
	}
	for _, word := range errorMap {
		if !errors.Is(err, word.engine) {
			continue
		}
		switch {
		case errors.Is(word.outside, landfall.ErrNotFound):
			return landfall.ErrNotFound
		case errors.Is(word.outside, landfall.ErrOverloaded):
			return &storeError{errors.Join(landfall.ErrOverloaded, landfall.ErrUnavailable), err}
		}
		return &storeError{word.outside, err}
	}
	return err
}
