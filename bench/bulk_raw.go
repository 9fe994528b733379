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

// measureBulkPostgres compares staging accounts in one stream with COPY of the
// same accounts into similar tables, in one or several streams.
func measureBulkPostgres(streams int) func(context.Context, plan, *harness, *service) (measured, error) {
	return func(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
		// A staged account is one row in the table of processes, one with the
		// document, and one for each of its two supply points. LIKE omits fill
		// factors and storage settings.
		if err := m.psql(ctx, s.database, `CREATE TABLE raw_process (LIKE process INCLUDING ALL) WITH (fillfactor = 95);
			CREATE TABLE raw_staging (LIKE staging INCLUDING ALL) WITH (toast_tuple_target = 8160);
			CREATE TABLE raw_account_identifier (LIKE account_identifier INCLUDING ALL)`); err != nil {
			return measured{}, err
		}
		numbers, rawNumbers := &counter{}, &counter{}
		ratio, ours, raw, err := alternate(p.rounds,
			func() (sample, error) { return s.bulk(ctx, numbers, p.length) },
			func() (sample, error) { return copyAccounts(ctx, s.database, rawNumbers, p.length, streams) })
		return measured{ratio: ratio, ours: ours.of("staged"), raw: raw.of("accounts by COPY")}, err
	}
}

// measureBulkSQLite compares staging in bulk with a bare writer of the same
// bytes, a thousand rows per transaction.
func measureBulkSQLite(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	raw, err := openBareWriter(filepath.Join(m.folder, "raw-bulk.db"))
	if err != nil {
		return measured{}, err
	}
	defer raw.close()
	numbers := &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.bulk(ctx, numbers, p.length) },
		func() (sample, error) { return raw.thousands(ctx, p.length) })
	return measured{ratio: ratio, ours: ours.of("staged"), raw: limit.of("rows by a bare writer")}, err
}

// bulk is stream for measurements that only need its rate.
func (s *service) bulk(ctx context.Context, numbers *counter, length time.Duration) (sample, error) {
	found, err := s.stream(ctx, numbers, length, 0)
	if err != nil {
		return sample{}, err
	}
	return sample{rate: found.rate()}, nil
}

// copyAccounts copies accounts for a while, with one connection per stream.
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

// copyFor copies batch after batch. It checks the time only between batches, so
// that no batch is counted in part.
func copyFor(ctx context.Context, database string, numbers *counter, until time.Time) (int64, error) {
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return 0, err
	}
	// Each stream keeps its connection, so that connecting is not timed.
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

// copiedTogether is the number of accounts per transaction: so many that the
// cost of commits is negligible.
const copiedTogether = 10_000

// copyTogether copies the accounts after a number in one transaction.
func copyTogether(ctx context.Context, conn *pgx.Conn, behind int64) error {
	tx, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback(ctx) }()
	// The hash is written but not computed: hashing is the product's work, not
	// the database's.
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
			return []any{number, int64(1), hash, int64(0), appendAccount(number, nil)}
		})); err != nil {
		return err
	}
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"raw_account_identifier"},
		[]string{"process_id", "ordinal", "supplier_id", "digest", "value"},
		pgx.CopyFromSlice(2*copiedTogether, func(i int) ([]any, error) {
			point := supplyPoints[i%2]
			return []any{behind + int64(i/2) + 1, int64(i%2) + 1, int64(1), point.digest, point.text}, nil
		})); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// supplyPoints are the identifiers of every account, as staging stores them. The
// digests are written but not computed.
var supplyPoints = [2]struct {
	digest int64
	text   string
}{
	{4611686018427387904, "supply_point\x1fELECTRICITY\x1f1200023305967"},
	{-4611686018427387904, "supply_point\x1fGAS\x1f7501234509"},
}

// thousands writes rows in transactions of a thousand, from one caller.
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

// thousand writes one transaction.
func (w *bareWriter) thousand(ctx context.Context) error {
	tx, err := w.db.BeginTx(ctx, &sql.TxOptions{})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	statements := make([]*sql.Stmt, len(w.statements))
	for i, statement := range w.statements {
		statements[i] = tx.StmtContext(ctx, statement)
	}
	for range 1000 {
		body := appendAccount(w.numbers.last.Add(1), nil)
		// Cut the external number out of the bytes, which is cheaper than
		// formatting it again.
		external, document := string(body[len(accountHead)-4:len(accountHead)+13]), string(body)
		for _, statement := range statements {
			if _, err := statement.ExecContext(ctx, external, document); err != nil {
				return err
			}
		}
	}
	return tx.Commit()
}
