package main

import (
	"context"
	"fmt"
	"strconv"
)

// measureGrown compares creating accounts in a database with very many accounts
// with creating them in one with a few.
func measureGrown(ctx context.Context, p plan, m *harness) (measured, error) {
	few, err := m.serveNew(ctx, fresh("small"))
	if err != nil {
		return measured{}, err
	}
	defer few.stop()
	many, err := m.serveNew(ctx, fresh("large"))
	if err != nil {
		return measured{}, err
	}
	defer many.stop()
	if err := m.grow(ctx, many.database, p.rows); err != nil {
		return measured{}, err
	}
	fewNumbers, manyNumbers := &counter{}, &counter{}
	ratio, ours, raw, err := alternate(p.rounds+2,
		func() (sample, error) { return many.create(ctx, manyNumbers, creations) },
		func() (sample, error) { return few.create(ctx, fewNumbers, creations) })
	return measured{
		ratio: ratio, ours: ours.of(fmt.Sprintf("accounts with %d in the database", p.rows)),
		raw: raw.of("accounts in a new database"),
	}, err
}

// grow inserts accounts that look as if they had been created long ago.
func (m *harness) grow(ctx context.Context, database string, accounts int) error {
	statements := []string{
		`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, number, account_number, account_created_at)
			SELECT (SELECT id FROM supplier), 'OLD-' || n, 'imported', 1, '\x00', n, n, 'O-' || n, 'O-' || n, n FROM generate_series(1, ` + strconv.Itoa(accounts) + `) n`,
		`INSERT INTO staging (process_id, revision, hash, staged_at, document) SELECT id, 1, hash, 1, '{}' FROM process`,
	}
	for _, row := range rawRows {
		statements = append(statements, fmt.Sprintf("INSERT INTO %s (%s, %s) SELECT id, %s FROM process ORDER BY id", row.table, row.key(), row.columns, row.values))
	}
	statements = append(statements,
		`INSERT INTO event (type, supplier, external, account_number, at, details)
			SELECT 'account_import.completed', '`+supplier+`', external, account_number, 1, '{}' FROM process`,
		// Update statistics and checkpoint, so that the first round does not
		// pay for the inserts.
		`VACUUM ANALYZE`, `CHECKPOINT`)
	return m.psql(ctx, database, statements...)
}
