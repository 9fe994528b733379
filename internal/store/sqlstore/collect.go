package sqlstore

import "context"

// scanner copies the columns of the current row.
type scanner func(into ...any) error

// collect reads every row of a short query. Unbounded lists have List.
func collect[T any](ctx context.Context, s *session, read func(scanner, *T) error, text string, args ...any) ([]T, error) {
	rows, err := s.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []T
	for rows.Next() {
		var blank T
		found = append(found, blank)
		// Read in place: by itself every item would be a piece of memory more.
		if err := read(rows.Scan, &found[len(found)-1]); err != nil {
			return nil, s.note(err)
		}
	}
	return found, s.note(rows.Err())
}

// first is collect for a query that finds one row or none.
func first[T any](found []T, err error, absent error) (T, error) {
	var none T
	switch {
	case err != nil:
		return none, err
	case len(found) == 0:
		return none, absent
	}
	return found[0], nil
}

// changed answers a sentinel when a statement changed nothing.
func changed(otherwise error) func(int64, error) error {
	return func(count int64, err error) error {
		if err == nil && count == 0 {
			return otherwise
		}
		return err
	}
}
