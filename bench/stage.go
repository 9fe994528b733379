package main

import (
	"context"
	"path/filepath"
	"sync/atomic"
)

// stagePath is the endpoint that stages accounts.
const stagePath = "/v1/data-import/account-import-process/create-or-update/"

// measureStagePostgres compares staging with pgbench upserting the same bytes and
// adding the identifiers of the same two supply points.
func measureStagePostgres(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.psql(ctx, s.database, `CREATE TABLE raw_upsert (supplier text, external text COLLATE "C", document json, staged_at bigint, PRIMARY KEY (supplier, external));
		CREATE TABLE raw_identifier (LIKE account_identifier INCLUDING ALL)`); err != nil {
		return measured{}, err
	}
	upsert := `\set n random(1, 2000000000)
WITH written AS (INSERT INTO raw_upsert VALUES ('BENCH', 'EXT-' || :n, :document, 0)
ON CONFLICT (supplier, external) DO UPDATE SET document = excluded.document, staged_at = excluded.staged_at)
INSERT INTO raw_identifier VALUES ` + identifierRows(":n::bigint") + ` ON CONFLICT DO NOTHING;
`
	numbers := &counter{}
	ratio, ours, raw, err := alternate(p.rounds,
		func() (sample, error) { return s.load(stagePath, numbers.account).run(ctx, p.length) },
		func() (sample, error) { return m.pgbench(ctx, s.database, upsert, p.length) })
	return measured{ratio: ratio, ours: ours.of("staged"), raw: raw.of("upserts by pgbench")}, err
}

// measureStageSQLite compares staging with a bare writer that stores the same
// bytes in one table and the identifiers in another, with full durability, 64
// connections per commit. Its
// callers are behind a socket, as the clients of pgbench are.
func measureStageSQLite(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	bare, err := startBare(ctx, filepath.Join(m.folder, "raw.db"))
	if err != nil {
		return measured{}, err
	}
	defer bare.stop()
	numbers, rawNumbers := &counter{}, &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.load(stagePath, numbers.account).run(ctx, p.length) },
		func() (sample, error) { return bare.load("/", rawNumbers.account).run(ctx, p.length) })
	return measured{ratio: ratio, ours: ours.of("staged"), raw: limit.of("upserts by a bare writer")}, err
}

// measureStageInside compares staging over HTTP with the same bare writer
// called in its own process.
func measureStageInside(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	raw, err := openBareWriter(filepath.Join(m.folder, "raw-inside.db"))
	if err != nil {
		return measured{}, err
	}
	defer raw.close()
	numbers := &counter{}
	ratio, ours, limit, err := alternate(p.rounds,
		func() (sample, error) { return s.load(stagePath, numbers.account).run(ctx, p.length) },
		func() (sample, error) { return raw.run(ctx, p.length) })
	return measured{ratio: ratio, ours: ours.of("staged"), raw: limit.of("upserts within one process")}, err
}

// counter makes every staging a new account: staging the same one twice would
// be cheaper.
type counter struct{ last atomic.Int64 }

// account ignores its argument: alternating arms share the counter, and an
// account that was staged before causes other work.
func (c *counter) account(_ int64, dst []byte) []byte { return appendAccount(c.last.Add(1), dst) }
