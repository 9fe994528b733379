package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// reconciliationPath returns the whole table of differences.
const reconciliationPath = "/v1/data-import/reconciliation/" + supplier + "/"

// figuresOfOne is what one account adds to the totals: customers, supply
// points, notes, a balance, a payment.
const figuresOfOne = `'GBP 1 2 2 1   790     1 5000'`

// refusedFor is the reason of refused accounts.
const refusedFor = `'{"code":"account_failed_validation","detail":"","violations":[]}'`

// measureReconciliation returns how many milliseconds the reconciliation of a
// supplier with very many accounts takes: seven tenths of them created, the
// rest waiting, failed and skipped, and one refused account for every ten. The
// first request comes before the sums are compacted and counts if it is the
// slowest.
func measureReconciliation(ctx context.Context, p plan, m *harness, s *service) (measured, error) {
	if err := m.standings(ctx, s.database, p.rows); err != nil {
		return measured{}, err
	}
	began := time.Now()
	if err := s.reconciled(ctx, p.rows/10*7); err != nil {
		return measured{}, err
	}
	first := time.Since(began)
	// Later requests find compacted sums, so the first one is measured alone.
	later, err := median(func() error { return s.reconciled(ctx, p.rows/10*7) })
	millis := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	return measured{
		ratio: millis(max(first, later)), atMost: true,
		ours: fmt.Sprintf("%.1f ms, %.1f ms as the writers left the sums", millis(later), millis(first)),
		raw:  fmt.Sprintf("%d accounts", p.rows),
	}, err
}

// standings inserts accounts in all states, with ledgers and with the sums that
// batches of fifty write.
func (m *harness) standings(ctx context.Context, database string, accounts int) error {
	series := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, accounts-1)
	batches := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < %d) `, accounts/50-1)
	statements := []string{
		`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, figures, account_number, account_created_at, failed_at, failure, skip_reason) ` +
			series + `SELECT (SELECT id FROM supplier), 'OLD-' || i, CASE WHEN i % 10 < 7 THEN 'imported' WHEN i % 10 = 9 THEN 'skipped' ELSE 'staged' END, 1, {hash}, i, i, ` + figuresOfOne + `,
			CASE WHEN i % 10 < 7 THEN 'O-' || i END, CASE WHEN i % 10 < 7 THEN i END,
			CASE WHEN i % 10 = 8 THEN i END, CASE WHEN i % 10 = 8 THEN CAST(` + refusedFor + ` AS {json}) END,
			CASE WHEN i % 10 = 9 THEN 'closed' END FROM n`,
		`INSERT INTO refusal (supplier_id, external, at, failure) ` + series + `SELECT (SELECT id FROM supplier), 'NEW-' || i, i, CAST(` + refusedFor + ` AS {json}) FROM n WHERE i % 10 = 0`,
		`INSERT INTO tally (supplier_id, standing, figures) ` + batches + `SELECT (SELECT id FROM supplier),
			CASE WHEN i % 10 < 7 THEN 'created' WHEN i % 10 = 7 THEN 'pending' WHEN i % 10 = 8 THEN 'failed' ELSE 'skipped' END,
			'GBP 50 100 100 50   39500     50 250000' FROM n`,
	}
	for _, row := range rawRows {
		if row.table == "account" || row.table == "ledger_entry" {
			statements = append(statements, fmt.Sprintf("INSERT INTO %s (%s, %s) SELECT id, %s FROM process WHERE account_number IS NOT NULL ORDER BY id",
				row.table, row.key(), row.columns, row.values))
		}
	}
	path, isFile := strings.CutPrefix(database, "sqlite:")
	if !isFile {
		// Both databases get the same statements, except for two expressions.
		for i := range statements {
			statements[i] = strings.NewReplacer("{hash}", `'\x00'`, "{json}", "JSON").Replace(statements[i])
		}
		return m.psql(ctx, database, append(statements, "VACUUM ANALYZE", "CHECKPOINT")...)
	}
	db, err := sql.Open("sqlite", path+"?_pragma=busy_timeout(60000)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for _, statement := range statements {
		if _, err := db.ExecContext(ctx, strings.NewReplacer("{hash}", `x'00'`, "{json}", "TEXT").Replace(statement)); err != nil {
			return err
		}
	}
	return nil
}

// reconciled requests the reconciliation and checks that it includes all
// accounts.
func (s *service) reconciled(ctx context.Context, created int) error {
	answer, err := s.get(ctx, reconciliationPath)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	var found struct {
		Measures []struct {
			Measure string `json:"measure"`
			Created struct {
				Count int `json:"count"`
			} `json:"created"`
		} `json:"measures"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&found); err != nil {
		return err
	}
	for _, measure := range found.Measures {
		if measure.Measure == "accounts" && measure.Created.Count == created {
			return nil
		}
	}
	return fmt.Errorf("the reconciliation does not show %d created accounts: %+v", created, found)
}
