package engine

import (
	"errors"
	"strings"
	"testing"

	"landfall/internal/test/pgtest"
)

// TestPlansAreNotCompiled runs a query that reads a table without an index. With our costs
// PostgreSQL takes it for very expensive and would compile it, if the server allows it as
// it does by default. An idle server spent a third of a core that way.
func TestPlansAreNotCompiled(t *testing.T) {
	plan := explain(t, `EXPLAIN ANALYZE SELECT count(*) FROM item WHERE value > 1`)
	if !strings.Contains(plan, "Execution Time") || strings.Contains(plan, "JIT") {
		t.Error(plan)
	}
}

// TestPlansRunInOneProcess runs a query for which PostgreSQL would start further
// processes. With our costs it did so for every page of a list of many accounts: 17 ms
// instead of one.
func TestPlansRunInOneProcess(t *testing.T) {
	plan := explain(t, `EXPLAIN ANALYZE SELECT * FROM item WHERE name > 'a' ORDER BY name LIMIT 10000`,
		`INSERT INTO item (name, value) SELECT 'name ' || i, i FROM generate_series(1, 20000) AS n (i)`, `ANALYZE item`,
		`SET LOCAL parallel_setup_cost = 0`, `SET LOCAL min_parallel_index_scan_size = 0`, `SET LOCAL min_parallel_table_scan_size = 0`)
	if !strings.Contains(plan, "Execution Time") || strings.Contains(plan, "Workers") {
		t.Error(plan)
	}
}

// explain returns the plan of a query after other statements of its transaction.
func explain(t *testing.T, query string, before ...string) string {
	t.Helper()
	r := openTest(t, pgtest.URL(t), Options{})
	var plan []string
	err := r.Update(t.Context(), "", func(tx *Tx) error {
		plan = nil
		for _, text := range append(before, query) {
			rows, err := tx.Query(t.Context(), text)
			if err != nil {
				return err
			}
			for rows.Next() {
				var line string
				if err := rows.Scan(&line); err != nil {
					return errors.Join(err, rows.Close())
				}
				plan = append(plan, line)
			}
			if err := errors.Join(rows.Err(), rows.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
