package engine

import (
	"strings"
	"testing"

	"landfall/internal/test/pgtest"
)

// TestPlansAreNotCompiled runs a query that reads a table without an index. With our costs
// PostgreSQL takes it for very expensive and would compile it, if the server allows it as
// it does by default. An idle server spent a third of a core that way.
func TestPlansAreNotCompiled(t *testing.T) {
	r := openTest(t, pgtest.URL(t), Options{})
	var plan []string
	err := r.Update(t.Context(), "", func(tx *Tx) error {
		rows, err := tx.Query(t.Context(), `EXPLAIN ANALYZE SELECT count(*) FROM item WHERE value > 1`)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			if err := rows.Scan(&line); err != nil {
				return err
			}
			plan = append(plan, line)
		}
		return rows.Err()
	})
	if told := strings.Join(plan, "\n"); err != nil || !strings.Contains(told, "Execution Time") || strings.Contains(told, "JIT") {
		t.Errorf("%v\n%s", err, told)
	}
}
