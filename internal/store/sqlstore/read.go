package sqlstore

import (
	"context"

	"landfall/internal/store/sqlset"
)

// scanner copies the columns of the current row.
type scanner = sqlset.Scanner

// collect reads every row of a short query. For unbounded lists use List.
func collect[T any](ctx context.Context, s *txSession, read func(scanner, *T) error, text string, args ...any) ([]T, error) {
	found, err := sqlset.Collect(ctx, s.engine, read, text, args...)
	return found, translate(err)
}

// firstOf returns the first row that collect found, or the error absent.
func firstOf[T any](found []T, err error, absent error) (T, error) {
	var none T
	switch {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, absent
	}
	return found[0], nil
}

// orIfUnchanged returns a function that returns otherwise if a statement
// changed nothing.
func orIfUnchanged(otherwise error) func(int64, error) error {
	return func(count int64, err error) error {
		if err == nil && count == 0 {
			return otherwise
		}
		return err
	}
}
