package sqlstore

import (
	"context"
	"errors"
	"sync/atomic"

	"landfall"
	"landfall/internal/store/engine"
)

// txSession wraps the engine's transaction. It translates the engine's errors
// into those of package landfall.
type txSession struct {
	engine  *engine.Tx
	sealer  *sealer
	checked *atomic.Int32 // how many large batches stage checks for known accounts
}

type view struct{ *txSession }

// tx reads and writes within one transaction. Only updates and batches create
// one, so nothing can be written outside a transaction.
type tx struct{ view }

// query runs a query and translates its error.
func (s *txSession) query(ctx context.Context, text string, args ...any) (engine.Rows, error) {
	rows, err := s.engine.Query(ctx, text, args...)
	return rows, translate(err)
}

// one scans the only row of a query, or returns ErrNotFound.
func (s *txSession) one(ctx context.Context, text string, args, into []any) error {
	return translate(s.engine.One(ctx, text, args, into))
}

// fail translates a driver's error and fails the transaction with it.
func (s *txSession) fail(err error) error { return translate(s.engine.Fail(err)) }

// exec changes rows and returns how many.
func (t *tx) exec(ctx context.Context, text string, args ...any) (int64, error) {
	count, err := t.engine.Exec(ctx, text, args...)
	return count, translate(err)
}

// returning is query for a statement that changes rows.
func (t *tx) returning(ctx context.Context, text string, args ...any) (engine.Rows, error) {
	return t.query(ctx, text, args...)
}

// errUnstorable refuses text that one of the databases would refuse and the
// other store: the store must behave the same on both.
var errUnstorable = engine.ErrUnstorable

// storable reports whether both databases can store a text unchanged.
func storable(text string) bool { return engine.Storable(text) }

// storeError is an error of the engine with the matching error of package
// landfall.
type storeError struct{ kind, cause error }

// Error returns the engine's own text.
func (t *storeError) Error() string { return t.cause.Error() }

// Unwrap returns both errors for errors.Is.
func (t *storeError) Unwrap() []error { return []error{t.kind, t.cause} }

// errorMap maps the engine's errors to those of package landfall, the more
// specific ones first.
var errorMap = []struct{ engine, outside error }{
	{engine.ErrNotFound, landfall.ErrNotFound},
	{engine.ErrUnknownOutcome, landfall.ErrUnknownOutcome},
	{engine.ErrOverloaded, landfall.ErrOverloaded},
	{engine.ErrUnavailable, landfall.ErrUnavailable},
}

// translate translates an error of the engine. No other code does.
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
		case engine.DiskFull(err):
			return &storeError{errors.Join(landfall.ErrDiskFull, word.outside), err}
		}
		return &storeError{word.outside, err}
	}
	return err
}
