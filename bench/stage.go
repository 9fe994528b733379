package main

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // the raw limit is measured with the driver alone
)

const stagePath = "/v1/data-import/account-import-process/create-or-update/"

// measureStagePostgres compares staging with pgbench upserting the same bytes.
func measureStagePostgres(ctx context.Context, p plan, m *machinery) (result, error) {
	database, err := m.freshPostgres(ctx, "stage")
	if err != nil {
		return result{}, err
	}
	s, err := m.start(ctx, database)
	if err != nil {
		return result{}, err
	}
	defer s.stop()
	if err := m.psql(ctx, database, `CREATE TABLE raw_upsert (supplier text, external text COLLATE "C", document json, staged_at bigint, PRIMARY KEY (supplier, external))`); err != nil {
		return result{}, err
	}
	const upsert = `\set n random(1, 2000000000)
INSERT INTO raw_upsert VALUES ('BENCH', 'EXT-' || :n, :document, 0)
ON CONFLICT (supplier, external) DO UPDATE SET document = excluded.document, staged_at = excluded.staged_at;
`
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (float64, error) { return s.load(stagePath, numbers.account).run(ctx, p.length) },
		func() (float64, error) { return m.pgbench(ctx, database, upsert, p.length) })
	return result{ratio: ratio, ours: perSecond(ours, "staged"), raw: perSecond(raw, "upserts by pgbench")}, err
}

// measureStageSQLite compares staging with a bare writer that puts the same
// bytes into one table with full durability, 64 callers to a commit.
func measureStageSQLite(ctx context.Context, p plan, m *machinery) (result, error) {
	s, err := m.start(ctx, m.sqlite("stage"))
	if err != nil {
		return result{}, err
	}
	defer s.stop()
	raw, err := openBareWriter(filepath.Join(m.folder, "raw.db"))
	if err != nil {
		return result{}, err
	}
	defer func() { _ = raw.db.Close() }()
	numbers := &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (float64, error) { return s.load(stagePath, numbers.account).run(ctx, p.length) },
		func() (float64, error) { return raw.run(ctx, p.length) })
	return result{ratio: ratio, ours: perSecond(ours, "staged"), raw: perSecond(limit, "upserts by a bare writer")}, err
}

// counter makes every staging of a whole measurement a new account: staging
// the same one twice would be cheaper than what we claim to measure.
type counter struct{ last atomic.Int64 }

func (c *counter) account(_ int64, dst []byte) []byte { return account(c.last.Add(1), dst) }

// bareWriter is SQLite with nothing around it: 64 goroutines hand rows to one
// writer, which commits whatever has gathered.
type bareWriter struct {
	db      *sql.DB
	numbers counter
}

func openBareWriter(path string) (*bareWriter, error) {
	db, err := sql.Open("sqlite", path+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	_, err = db.Exec(`CREATE TABLE raw_upsert (supplier TEXT, external TEXT, document TEXT, staged_at INTEGER, PRIMARY KEY (supplier, external)) STRICT`)
	return &bareWriter{db: db}, err
}

func (w *bareWriter) run(ctx context.Context, length time.Duration) (float64, error) {
	type row struct {
		number   int64
		document string
		done     chan struct{}
	}
	rows := make(chan row, connections)
	ctx, stop := context.WithTimeout(ctx, length)
	defer stop()
	for range connections {
		go func() {
			done := make(chan struct{}, 1)
			for ctx.Err() == nil {
				number := w.numbers.last.Add(1)
				select {
				case rows <- row{number, string(account(number, nil)), done}:
					<-done
				case <-ctx.Done():
				}
			}
		}()
	}
	written, started := 0, time.Now()
	statement, err := w.db.Prepare(`INSERT INTO raw_upsert VALUES ('BENCH', $1, $2, 0)
		ON CONFLICT (supplier, external) DO UPDATE SET document = excluded.document, staged_at = excluded.staged_at`)
	if err != nil {
		return 0, err
	}
	defer func() { _ = statement.Close() }()
	for {
		var waiting []row
		select {
		case first := <-rows:
			waiting = append(waiting, first)
		case <-ctx.Done():
			return float64(written) / time.Since(started).Seconds(), nil
		}
		for len(rows) > 0 && len(waiting) < connections {
			waiting = append(waiting, <-rows)
		}
		tx, err := w.db.Begin()
		if err != nil {
			return 0, err
		}
		for _, row := range waiting {
			if _, err := tx.Stmt(statement).Exec(fmt.Sprintf("EXT-%d", row.number), row.document); err != nil {
				return 0, err
			}
		}
		if err := tx.Commit(); err != nil {
			return 0, err
		}
		written += len(waiting)
		for _, row := range waiting {
			row.done <- struct{}{}
		}
	}
}
