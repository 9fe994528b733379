package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

// measureBulkPostgres compares one stream of accounts that are staged with COPY of
// the same accounts into tables like ours, as one stream or as several.
func measureBulkPostgres(streams int) func(context.Context, plan, *machinery, *service) (result, error) {
	return func(ctx context.Context, p plan, m *machinery, s *service) (result, error) {
		// An account that is staged is a row by which it is found and one that
		// holds it. LIKE leaves out how full pages become and what goes elsewhere.
		if err := m.psql(ctx, s.database, `CREATE TABLE raw_process (LIKE process INCLUDING ALL) WITH (fillfactor = 95);
			CREATE TABLE raw_staging (LIKE staging INCLUDING ALL) WITH (toast_tuple_target = 8160)`); err != nil {
			return result{}, err
		}
		numbers, rawNumbers := &counter{}, &counter{}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) { return s.bulk(ctx, numbers, p.length) },
			func() (sample, error) { return copyAccounts(ctx, s.database, rawNumbers, p.length, streams) })
		return result{ratio: ratio, ours: ours.of("staged"), raw: raw.of("accounts by COPY")}, err
	}
}

// measureBulkSQLite compares staging in bulk with a bare writer of the same
// bytes, a thousand rows to a transaction.
func measureBulkSQLite(ctx context.Context, p plan, m *machinery, s *service) (result, error) {
	raw, err := openBareWriter(filepath.Join(m.folder, "raw-bulk.db"))
	if err != nil {
		return result{}, err
	}
	defer raw.close()
	numbers := &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.bulk(ctx, numbers, p.length) },
		func() (sample, error) { return raw.thousands(ctx, p.length) })
	return result{ratio: ratio, ours: ours.of("staged"), raw: limit.of("rows by a bare writer")}, err
}

// bulk is stream for measurements that want nothing but its rate.
func (s *service) bulk(ctx context.Context, numbers *counter, length time.Duration) (sample, error) {
	found, err := s.stream(ctx, numbers, length, 0)
	if err != nil {
		return sample{}, err
	}
	return sample{rate: found.rate()}, nil
}

// copyAccounts copies accounts for a while, over a connection for each stream.
func copyAccounts(ctx context.Context, database string, numbers *counter, length time.Duration, streams int) (sample, error) {
	var group sync.WaitGroup
	var rows atomic.Int64
	var failure error
	var mutex sync.Mutex
	began := time.Now()
	for range streams {
		group.Go(func() {
			copied, err := copyFor(ctx, database, numbers, began.Add(length))
			rows.Add(copied)
			mutex.Lock()
			defer mutex.Unlock()
			if err != nil {
				failure = err
			}
		})
	}
	group.Wait()
	return sample{rate: float64(rows.Load()) / time.Since(began).Seconds()}, failure
}

// copyFor copies batch after batch. The time is looked at between batches alone, so
// that nothing is cut off and counted half.
func copyFor(ctx context.Context, database string, numbers *counter, until time.Time) (int64, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return 0, err
	}
	// A connection for each stream lives as long as the arm, so that connecting is not timed
	// again and again.
	defer func() { _ = conn.Close(ctx) }()
	for total := int64(0); ; {
		if time.Now().After(until) {
			return total, nil
		}
		if err := copyTogether(ctx, conn, numbers.last.Add(copiedTogether)-copiedTogether); err != nil {
			return total, err
		}
		total += copiedTogether
	}
}

// copiedTogether is how many accounts are in a transaction: so many that a
// commit costs nothing to speak of.
const copiedTogether = 10_000

// copyTogether copies the accounts behind a number in one transaction.
func copyTogether(ctx context.Context, conn *pgx.Conn, behind int64) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	// A hash is written but not computed: hashing is our work and not the database's.
	hash := make([]byte, 32)
	each := func(row func(number int64) []any) pgx.CopyFromSource {
		return pgx.CopyFromSlice(copiedTogether, func(i int) ([]any, error) { return row(behind + int64(i) + 1), nil })
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"raw_process"},
		[]string{"id", "supplier_id", "external", "state", "revision", "hash", "first_staged_at", "staged_at", "figures"},
		each(func(number int64) []any {
			return []any{number, int64(1), externalOf(number), "staged", int64(1), hash, int64(0), int64(0), "GBP"}
		})); err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"raw_staging"},
		[]string{"process_id", "revision", "hash", "staged_at", "document"},
		each(func(number int64) []any {
			return []any{number, int64(1), hash, int64(0), account(number, nil)}
		})); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// thousands puts rows into transactions of a thousand, from one caller.
func (w *bareWriter) thousands(ctx context.Context, length time.Duration) (sample, error) {
	began, rows := time.Now(), 0
	for ctx.Err() == nil && time.Since(began) < length {
		if err := w.thousand(ctx); err != nil {
			return sample{}, err
		}
		rows += 1000
	}
	return sample{rate: float64(rows) / time.Since(began).Seconds()}, nil
}

// thousand writes what one transaction of the comparison has.
func (w *bareWriter) thousand(ctx context.Context) error {
	tx, err := w.db.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	statement := tx.StmtContext(ctx, w.statements[0])
	for range 1000 {
		body := account(w.numbers.last.Add(1), nil)
		// The external number is cut out of the bytes, which is cheaper than to write it a second
		// time.
		if _, err := statement.ExecContext(ctx, string(body[len(accountHead)-4:len(accountHead)+13]), string(body)); err != nil {
			return err
		}
	}
	return tx.Commit()
}
