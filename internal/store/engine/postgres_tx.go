package engine

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

// pgTx runs the statements of one transaction on PostgreSQL with few round trips:
// BEGIN is sent with the first statement and the mark with the COMMIT.
type pgTx struct {
	pool     *pgPool
	begin    string
	settings string // a statement that applies settings, or empty
	early    []earlyStatement
	silence  time.Duration
	until    time.Time
	conn     *pgConn // nil before the first statement
	failed   bool    // the connection must not be used again
}

// earlyStatement is a statement that is sent together with the first one.
type earlyStatement struct {
	text string
	args []any
}

// take gets a connection.
func (x *pgTx) take(ctx context.Context) (err error) {
	if x.conn, err = x.pool.get(ctx); err != nil {
		x.conn = nil
		return err
	}
	x.conn.wire.limit(x.silence, x.until)
	return nil
}

// opening returns a batch that begins the transaction.
func (x *pgTx) opening() *pgx.Batch {
	batch := &pgx.Batch{}
	batch.Queue(x.begin)
	if x.settings != "" {
		batch.Queue(x.settings)
	}
	// They are queued again for each connection, which prepares statements of its own.
	for _, one := range x.early {
		batch.Queue(one.text, one.args...)
	}
	return batch
}

// first begins the transaction together with its first statement. If the
// connection turns out to be dead, it uses a new one: nothing can remain of what
// was sent.
func (x *pgTx) first(ctx context.Context, text string, args []any) (pgx.BatchResults, error) {
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
		// Only an idle connection can have died unnoticed. If a new one breaks,
		// the server has a problem, and another attempt would double every wait.
		old := !x.conn.since.IsZero()
		_ = x.note(wrapped)
		if again || !old || !isFault(wrapped, faultConnection) || timedOut(err) || ctx.Err() != nil {
			return nil, wrapped
		}
		x.release()
	}
}

// query sends a statement that returns rows; the first one begins the
// transaction.
func (x *pgTx) query(ctx context.Context, text string, args []any) (Rows, error) {
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

// exec sends a statement that returns a count; the first one begins the
// transaction.
func (x *pgTx) exec(ctx context.Context, text string, args []any) (int64, error) {
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

// execEarly sends a statement together with the first one of the transaction, and at
// once if that was sent already.
func (x *pgTx) execEarly(ctx context.Context, text string, args []any) error {
	if x.conn != nil {
		_, err := x.exec(ctx, text, args)
		return err
	}
	x.early = append(x.early, earlyStatement{postgresDialect.text(text), flat(args)})
	return nil
}

// flat marks arguments as arrays of one dimension, which the driver would
// otherwise find out by reflection, value by value. The first column reserves
// space for all of them.
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
		all := args[first].(Column) //nolint:forcetypeassert // its type was checked above
		all.room = room
		args[first] = all
	}
	return args
}

// note marks the connection, and the idle ones with it, as broken.
func (x *pgTx) note(err error) error {
	if isFault(err, faultConnection) && x.conn != nil {
		x.failed = true
		x.pool.invalidate(x.conn)
	}
	return err
}

// end rolls back an open transaction and returns the connection to the pool.
func (x *pgTx) end() {
	x.early = nil // a refusal is committed without them
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

// release returns the connection to the pool or closes it. Its slot is returned
// either way, or it would be missing until a restart.
func (x *pgTx) release() {
	if x.failed {
		x.conn.drop()
		_ = x.conn.Close(cancelledContext) // so that the pool sees it is closed
	} else {
		x.conn.wire.limit(x.silence, time.Time{})
	}
	x.pool.put(x.conn)
	x.conn, x.failed = nil, false
}

// cancelledContext is for calls that must not wait.
var cancelledContext = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// pgRows adapts the driver's rows.
type pgRows struct {
	pgx.Rows
	rest pgx.BatchResults // the batch that the query was sent in
	of   *pgTx
}

// Err returns the error that ended the rows.
func (r *pgRows) Err() error { return r.of.note(postgresDialect.wrap(r.Rows.Err())) }

// Close ends the query. It may be called again.
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
