package sqlstore

import "context"

// Force changes rows past the port, to put a store into states that other
// programs or another version of this one may leave behind.
func (s *Store) Force(ctx context.Context, text string, args ...any) error {
	return s.engine.update(ctx, false, func(session *session) error {
		_, err := (&tx{view{session}}).exec(ctx, text, args...)
		return err
	})
}

// ForceRead tries a statement in a view.
func (s *Store) ForceRead(ctx context.Context, text string) error {
	return s.engine.view(ctx, func(session *session) error {
		rows, err := session.query(ctx, text)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		defer rows.Close()
		return session.note(rows.Err())
	})
}

// Count gives the only number a query finds.
func (s *Store) Count(ctx context.Context, text string, args ...any) (count int, err error) {
	err = s.engine.view(ctx, func(session *session) error {
		return session.one(ctx, text, args, []any{&count})
	})
	return count, err
}

// SweepMarks runs the sweeper's round now.
func (s *Store) SweepMarks(ctx context.Context) error { return sweepMarks(ctx, s.engine) }

// FillDisk keeps the writer's connection to a SQLite file from growing it, as
// a full disk would. The next connection can again.
func (s *Store) FillDisk(ctx context.Context) error {
	w := s.engine.(*sqliteEngine).writer
	// Between two updates the connection is nobody's. SQLite raises the limit
	// to the pages there are.
	_, err := w.handle.conn.ExecContext(ctx, "PRAGMA max_page_count = 1")
	return err
}
