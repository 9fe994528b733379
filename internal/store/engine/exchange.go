package engine

import (
	"context"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// exchange runs the statements of one transaction on PostgreSQL with as few
// exchanges as it can: the first statement travels with the beginning and the
// mark with the commit.
type exchange struct {
	pool     *pool
	begin    string
	settings string // a statement that sets what the transaction must run with, or nothing
	silence  time.Duration
	until    time.Time
	conn     *conn // nil before the first statement
	failed   bool  // the connection itself is in doubt
}

// take gets a connection.
func (x *exchange) take(ctx context.Context) (err error) {
	if x.conn, err = x.pool.get(ctx); err != nil {
		x.conn = nil
		return err
	}
	x.conn.wire.limit(x.silence, x.until)
	return nil
}

// opening is the beginning of a transaction as part of a longer exchange.
func (x *exchange) opening() *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(x.begin)
	if x.settings != "" {
		batch.Queue(x.settings)
	}
	return batch
}

// first begins the transaction and sends its first statement along. A
// connection that turns out to be dead is exchanged for a new one: nothing was
// done over it that could stay.
func (x *exchange) first(ctx context.Context, text string, args []any) (pgx.BatchResults, error) {
	for again := false; ; again = true {
		if err := x.take(ctx); err != nil {
			return nil, err
		}
		batch := x.opening()
		count := batch.Len()
		batch.Queue(text, flat(args)...)
		results := x.conn.SendBatch(ctx, batch)
		var err error
		for range count {
			if _, err = results.Exec(); err != nil {
				break
			}
		}
		if err == nil {
			return results, nil
		}
		_ = results.Close()
		wrapped := postgresDialect.wrap(err)
		// Only one that lay idle may have died unnoticed. A new one that breaks
		// says something about the server, and hiding it would double every
		// wait.
		old := !x.conn.since.IsZero()
		_ = x.note(wrapped)
		if again || !old || !is(wrapped, lost) || timedOut(err) || ctx.Err() != nil {
			return nil, wrapped
		}
		x.release()
	}
}

// query sends a statement that gives rows, with the beginning if it is the
// first.
func (x *exchange) query(ctx context.Context, text string, args []any) (Rows, error) {
	if x.pool.planted == holdsNothing {
		text = strings.ReplaceAll(text, "{hold}", "")
	}
	text = postgresDialect.text(text)
	if x.conn == nil {
		results, err := x.first(ctx, text, args)
		if err != nil {
			return nil, err
		}
		rows, err := results.Query()
		if err != nil {
			_ = results.Close()
			return nil, x.note(postgresDialect.wrap(err))
		}
		return &pgRows{Rows: rows, rest: results, of: x}, nil
	}
	rows, err := x.conn.Query(ctx, text, flat(args)...)
	if err != nil {
		return nil, x.note(postgresDialect.wrap(err))
	}
	return &pgRows{Rows: rows, of: x}, nil
}

// exec sends a statement that gives a count, with the beginning if it is the
// first.
func (x *exchange) exec(ctx context.Context, text string, args []any) (int64, error) {
	text = postgresDialect.text(text)
	if x.conn == nil {
		results, err := x.first(ctx, text, args)
		if err != nil {
			return 0, err
		}
		tag, err := results.Exec()
		if rest := results.Close(); err == nil {
			err = rest
		}
		return tag.RowsAffected(), x.note(postgresDialect.wrap(err))
	}
	tag, err := x.conn.Exec(ctx, text, flat(args)...)
	return tag.RowsAffected(), x.note(postgresDialect.wrap(err))
}

// flat declares columns of rows to be what they are: lists without lists in them.
// The driver would find it out by reflection, value by value. The first column
// makes room for all of them.
func flat(args []any) []any {
	first, room := -1, 0
	for i, arg := range args {
		switch list := arg.(type) {
		case Column:
			if room += list.room; first < 0 {
				first = i
			}
		case []string:
			args[i] = pgtype.FlatArray[string](list)
		case []int64:
			args[i] = pgtype.FlatArray[int64](list)
		case [][]byte:
			args[i] = pgtype.FlatArray[[]byte](list)
		}
	}
	if first >= 0 {
		all := args[first].(Column) //nolint:forcetypeassert // it was looked at
		all.room = room
		args[first] = all
	}
	return args
}

// note remembers that the connection broke, and doubts all others with it.
func (x *exchange) note(err error) error {
	if is(err, lost) && x.conn != nil {
		x.failed = true
		x.pool.doubt(x.conn)
	}
	return err
}

// end rolls back what is still open and gives the connection back.
func (x *exchange) end() {
	if x.conn == nil {
		return
	}
	if !x.failed && !x.conn.IsClosed() && x.conn.PgConn().TxStatus() != 'I' {
		x.conn.wire.limit(x.silence, time.Time{})
		if _, err := x.conn.Exec(context.Background(), "ROLLBACK"); err != nil {
			x.failed = true
		}
	}
	x.release()
}

// release gives the connection back, or up. The place goes back either way: a
// place that is lost with its connection would be missing until a restart.
func (x *exchange) release() {
	if x.failed {
		x.conn.drop()
		_ = x.conn.Close(cancelled) // so that nobody takes it for a good one
	} else {
		x.conn.wire.limit(x.silence, time.Time{})
	}
	x.pool.put(x.conn)
	x.conn, x.failed = nil, false
}

// cancelled is the context of what must not take any time.
var cancelled = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// pgRows is the answer to a query, of the driver.
type pgRows struct {
	pgx.Rows
	rest pgx.BatchResults // what the query travelled in
	of   *exchange
}

// Err tells what ended the rows.
func (r *pgRows) Err() error { return r.of.note(postgresDialect.wrap(r.Rows.Err())) }

// Close ends the query. Again is fine.
func (r *pgRows) Close() error {
	r.Rows.Close()
	err := r.Err()
	if r.rest != nil {
		if rest := r.rest.Close(); err == nil {
			err = r.of.note(postgresDialect.wrap(rest))
		}
		r.rest = nil
	}
	return err
}
