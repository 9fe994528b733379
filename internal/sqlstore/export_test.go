package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"landfall"
)

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

// Texts gives the only column of a query's rows.
func (s *Store) Texts(ctx context.Context, text string) (found []string, err error) {
	err = s.engine.view(ctx, func(session *session) error {
		found, err = collect(ctx, session, func(scan scanner, text *string) error { return scan(text) }, text)
		return err
	})
	return found, err
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

// Exchanges posts onto an account and tells how many statements that took.
func (s *Store) Exchanges(ctx context.Context, wanted landfall.Posting) (count int, err error) {
	err = s.engine.update(ctx, false, func(shared *session) error {
		own := *shared
		counted := &counter{runner: shared.runner}
		own.runner, own.prepared = counted, nil
		mine := &postCall{key: wanted.Key, wanted: &posting{Posting: wanted}}
		err := (&tx{view{&own}}).post(ctx, []*postCall{mine})
		shared.wrote, shared.fatal, count = own.wrote, own.fatal, counted.count
		if err == nil {
			err = mine.err
		}
		return err
	})
	return count, err
}

// counter counts what a runner is asked.
type counter struct {
	runner
	count int
}

func (c *counter) ExecContext(ctx context.Context, text string, args ...any) (sql.Result, error) {
	c.count++
	return c.runner.ExecContext(ctx, text, args...)
}

func (c *counter) QueryContext(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	c.count++
	return c.runner.QueryContext(ctx, text, args...)
}

// Move moves an account as a posting does that found a ledger of some length.
func (s *Store) Move(ctx context.Context, id, length int64) error {
	return s.engine.update(ctx, false, func(session *session) error {
		rows := newAccountRows()
		rows.moved.add(id, length, int64(0), length, int64(0), int64(0), int64(0))
		return (&tx{view{session}}).write(ctx, rows.piles()...)
	})
}

// ListText is the query behind a list.
func ListText(filter landfall.ProcessFilter) string { return lists[filter] }

// FailedText is the query behind the list of failures.
const FailedText = failedProcesses

// Plan says how the database carries out a query with these numbers and
// strings, the way it does for everybody: on PostgreSQL it is carried out.
func (s *Store) Plan(ctx context.Context, text string, args ...any) (plan []string, err error) {
	line := func(scan scanner, line *string) error { return scan(line) }
	err = s.engine.view(ctx, func(session *session) error {
		if !session.dialect.arrays {
			line = func(scan scanner, line *string) error { return scan(new(int), new(int), new(int), line) }
			plan, err = collect(ctx, session, line, "EXPLAIN QUERY PLAN "+text, args...)
			return err
		}
		if err := session.ignore(ctx, `PREPARE probe AS `+text); err != nil {
			return err
		}
		values := make([]string, len(args))
		for i, arg := range args {
			values[i] = "'" + strings.ReplaceAll(fmt.Sprint(arg), "'", "''") + "'"
		}
		plan, err = collect(ctx, session, line, `EXPLAIN ANALYZE EXECUTE probe (`+strings.Join(values, ", ")+`)`)
		return errors.Join(err, session.ignore(ctx, `DEALLOCATE probe`))
	})
	return plan, err
}

// ignore runs a statement that gives nothing.
func (s *session) ignore(ctx context.Context, text string) error {
	rows, err := s.query(ctx, text)
	if err != nil {
		return err
	}
	return s.note(rows.Close())
}

// EntriesText is the query that looks transactions up, and its parameters for
// some of one account.
func (s *Store) EntriesText(account int64, ids ...string) (text string, args []any, err error) {
	var wanted []any
	for _, id := range ids {
		wanted = append(wanted, account, id)
	}
	err = s.engine.view(context.Background(), func(session *session) error {
		text, args, err = entriesWanted.of(session.dialect, wanted)
		return err
	})
	return text, args, err
}

// Former makes a database as an earlier program left it: with the steps up to a
// version, and with rows.
func Former(ctx context.Context, url string, version int64, rows ...string) error {
	target, err := parse(url)
	if err != nil {
		return err
	}
	s, err := target.schema(Options{}.withDefaults())
	if err != nil {
		return err
	}
	defer s.close()
	if _, err := s.goose.UpTo(ctx, version); err != nil {
		return err
	}
	for _, row := range rows {
		if _, err := s.db.ExecContext(ctx, s.dialect.text(row)); err != nil {
			return err
		}
	}
	return nil
}
