package sqlset

import (
	"context"

	"landfall/internal/store/engine"
)

// Scanner copies the columns of the current row.
type Scanner = func(into ...any) error

// Collect reads every row of a query whose result is short.
func Collect[T any](ctx context.Context, t *engine.Tx, read func(Scanner, *T) error, text string, args ...any) ([]T, error) {
	rows, err := t.Query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []T
	for rows.Next() {
		var blank T
		found = append(found, blank)
		// Read in place: a separate item would be one more allocation.
		if err := read(rows.Scan, &found[len(found)-1]); err != nil {
			return nil, t.Fail(err)
		}
	}
	return found, t.Fail(rows.Err())
}
