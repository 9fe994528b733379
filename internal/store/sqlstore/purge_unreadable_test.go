package sqlstore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"landfall"
)

// TestOneUnreadableFailureDoesNotStopThePurge damages one failure of each table.
// Everything behind it was kept past its retention, for this supplier and all
// that follow, and nothing said which row it was.
func TestOneUnreadableFailureDoesNotStopThePurge(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		const rows = 450 // more than one page
		prepareStore(t, store)
		force(t, store, `INSERT INTO supplier (code, name, status, document_root, currency, region, time_zone, send_customer_emails,
				verify_documents, concurrency_limit, severities, created_at)
			SELECT 'Z', 'Z', status, document_root, currency, region, time_zone, send_customer_emails, verify_documents, concurrency_limit, severities, created_at
			FROM supplier WHERE code = 'S'`)
		force(t, store, `UPDATE supplier SET keep_failures = 1, keep_runs = 0`)
		force(t, store, `INSERT INTO run (number, supplier_id, team, dry_run, selection, sample, most, at_once, state, cancelling, reason,
				created_at, ended_at, worked, cursor_at, cursor_external, seen, selected, chosen)
			SELECT 'R-' || id, id, 'T', FALSE, 'pending', 0, 0, 0, 'FINISHED', FALSE, '', 1, 1, 0, 0, '', 0, 0, TRUE FROM supplier`)
		const failure = `CAST('{"code":"x","detail":"quotes what was sent"}' AS {json})`
		count := fmt.Sprintf(`WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < %d)`, 999+rows)
		force(t, store, `INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at, failed_at, failure)
			`+count+` SELECT s.id, 'P' || i, 'staged', 1, CAST('x' AS {bytes}), 1, 1, 1, `+failure+` FROM n, supplier s`)
		force(t, store, `INSERT INTO refusal (supplier_id, external, at, failure) `+count+` SELECT s.id, 'F' || i, 1, `+failure+` FROM n, supplier s`)
		force(t, store, `INSERT INTO run_failure (run_id, external, at, failure) `+count+` SELECT r.id, 'R' || i, 1, `+failure+` FROM n, run r`)
		const damaged = `SET failure = CAST('"no failure"' AS {json}) WHERE external IN ('P1003', 'F1003', 'R1003') AND `
		force(t, store, `UPDATE process `+damaged+`supplier_id = (SELECT id FROM supplier WHERE code = 'S')`)
		force(t, store, `UPDATE refusal `+damaged+`supplier_id = (SELECT id FROM supplier WHERE code = 'S')`)
		force(t, store, `UPDATE run_failure `+damaged+`run_id = (SELECT r.id FROM run r JOIN supplier s ON s.id = r.supplier_id WHERE s.code = 'S')`)

		var reported []string
		purgeAll := func() {
			t.Helper()
			reported = nil
			for _, supplier := range []string{"S", "Z"} {
				for order := (landfall.PurgeRequest{Supplier: supplier}); ; {
					step, err := store.Purge(t.Context(), order)
					if err != nil {
						t.Fatal(err)
					}
					for _, row := range step.Unreadable {
						reported = append(reported, fmt.Sprint(row.Key, " ", row.Location))
					}
					if order.After = step.Next; step.Done {
						break
					}
				}
			}
		}
		purgeAll()
		for table, want := range map[string]int{"process": 2*rows - 1, "refusal": 2*rows - 1, "run_failure": 2*rows - 1} {
			stripped, err := store.Count(t.Context(), `SELECT count(*) FROM `+table+` WHERE CAST(failure AS TEXT) NOT LIKE '%quotes what was sent%' AND CAST(failure AS TEXT) LIKE '{%'`)
			if err != nil || stripped != want {
				t.Errorf("%s: %d failures were stripped, %v, want %d", table, stripped, err, want)
			}
		}
		if want := []string{"{S P1003} process.failure", "{S F1003} refusal.failure", "{S R1003} run_failure.failure"}; !slices.Equal(reported, want) {
			t.Errorf("reported %v, want %v", reported, want)
		}
		if err := store.View(t.Context(), func(view landfall.View) error {
			remembered, err := view.UnreadableRows(t.Context(), 10)
			if len(remembered) != 3 || remembered[0].Key != (landfall.Key{Supplier: "S", External: "F1003"}) || remembered[0].FoundAt.IsZero() {
				t.Errorf("remembered %+v", remembered)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		found, _ := inspect(t, store)
		if all := strings.Join(found, "\n"); !strings.Contains(all, "S P1003: its failure cannot be read") ||
			!strings.Contains(all, "S F1003: the refusal of its staging cannot be read") || !strings.Contains(all, "S R1003: its failure in a run cannot be read") {
			t.Errorf("the inspection found %v", found)
		}
		// They do not hide the others from the list of failures.
		listed, unreadable := 0, []string{}
		for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: "S"}) {
			if err != nil {
				t.Fatal(err)
			}
			if listed++; failed.Failure.Code == landfall.CodeInternalError {
				unreadable = append(unreadable, failed.External)
			}
		}
		if want := []string{"F1003", "P1003"}; listed != 2*rows || !slices.Equal(unreadable, want) {
			t.Errorf("%d failures are listed, want %d; those that cannot be read are %v", listed, 2*rows, unreadable)
		}
		// Once the rows are repaired, nobody is told any more.
		force(t, store, `UPDATE process SET failure = `+failure+` WHERE external = 'P1003'`)
		force(t, store, `DELETE FROM refusal`)
		force(t, store, `DELETE FROM run_failure`)
		purgeAll()
		if left, err := store.Count(t.Context(), `SELECT count(*) FROM unreadable_row`); err != nil || left != 0 {
			t.Errorf("%d rows are still remembered, %v", left, err)
		}
	})
}
