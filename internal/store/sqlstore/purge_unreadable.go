package sqlstore

import (
	"context"

	"landfall"
)

// rememberUnreadable records rows that a purge could not read, so that doctor
// can name them.
func (s *Store) rememberUnreadable(ctx context.Context, rows []landfall.UnreadableRow) error {
	if len(rows) == 0 {
		return nil
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		for _, row := range rows {
			if _, err := t.exec(ctx, `INSERT INTO unreadable_row (supplier, external, location, found_at) VALUES ($1, $2, $3, {now})
				ON CONFLICT (supplier, external, location) DO UPDATE SET found_at = excluded.found_at`,
				row.Key.Supplier, row.Key.External, row.Location); err != nil {
				return err
			}
		}
		return nil
	})
}

// forgetUnreadable forgets what an earlier purge of a supplier could not read.
// The purge that begins records what is still unreadable.
func (s *Store) forgetUnreadable(ctx context.Context, supplier string) error {
	var some bool
	err := s.stream(ctx, func(v *view) error {
		return v.one(ctx, `SELECT EXISTS (SELECT 1 FROM unreadable_row WHERE supplier = $1)`, []any{supplier}, []any{&some})
	})
	if err != nil || !some {
		return err
	}
	return s.update(ctx, landfall.Key{}, func(t *tx) error {
		_, err := t.exec(ctx, `DELETE FROM unreadable_row WHERE supplier = $1`, supplier)
		return err
	})
}

// UnreadableRows returns what the last purges could not read.
func (v *view) UnreadableRows(ctx context.Context, limit int) ([]landfall.UnreadableRow, error) {
	return collect(ctx, v.txSession, func(scan scanner, row *landfall.UnreadableRow) error {
		return scan(&row.Key.Supplier, &row.Key.External, &row.Location, instantInto{&row.FoundAt})
	}, `SELECT supplier, external, location, found_at FROM unreadable_row ORDER BY supplier, external, location LIMIT $1`, int64(limit))
}
