package sqlstore_test

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// TestInspectionFindsWrongSums damages the sums of a supplier and the rows they
// are computed from.
func TestInspectionFindsWrongSums(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("undamaged, but the inspection found %v", found)
		}
		for _, damage := range []struct{ do, undo, want string }{
			{`INSERT INTO tally (supplier_id, standing, figures) SELECT id, 'pending', 'GBP 0 3' FROM supplier`,
				`DELETE FROM tally WHERE figures = 'GBP 0 3'`, "its customers of pending accounts in GBP are recorded as 3, counted 0"},
			{`INSERT INTO customer SELECT account_id, 99, '', '', '', '', '', '', NULL, '' FROM customer WHERE ordinal = 1`,
				`DELETE FROM customer WHERE ordinal = 99`, "its customers of created accounts in"},
			{`UPDATE ledger_entry SET signed = signed + 700 WHERE sequence = 1`,
				`UPDATE ledger_entry SET signed = signed - 700 WHERE sequence = 1`, "its balances of created accounts in"},
		} {
			force(t, store, damage.do)
			found, _ := inspect(t, store)
			if !slices.ContainsFunc(found, func(finding string) bool { return strings.Contains(finding, damage.want) }) {
				t.Errorf("%s: found %v", damage.do, found)
			}
			force(t, store, damage.undo)
		}
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Errorf("everything was repaired, but the inspection found %v", found)
		}
	})
}

// TestSealedReportsCannotBeChanged tries to change a signed report without going
// through the port. With the guard removed, the inspection must find the change.
func TestSealedReportsCannotBeChanged(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		ctx := t.Context()
		id := signOff(t, store, "{}")
		for _, change := range []string{`UPDATE sign_off SET report = '[]'`, `DELETE FROM sign_off`} {
			if err := store.Force(ctx, change); err == nil {
				t.Errorf("%s succeeded", change)
			}
		}
		err := store.View(ctx, func(reader landfall.View) error {
			kept, err := reader.SignOff(ctx, id)
			if want := sha256.Sum256([]byte("{}")); string(kept.Report) != "{}" || string(kept.Page) != "<p>" || kept.ReportHash != want {
				t.Errorf("kept %+v", kept)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
		drop := `DROP TRIGGER sign_off_no_update`
		if strings.HasPrefix(url, "postgres") {
			drop += ` ON sign_off`
		}
		force(t, store, drop)
		force(t, store, `UPDATE sign_off SET report = '[]'`)
		if found, _ := inspect(t, store); len(found) != 1 || !strings.Contains(found[0], "is not the one that was sealed") {
			t.Errorf("found %v", found)
		}
	})
}

// TestReportChangedTogetherWithItsHashIsFound changes a signed report and the
// hashes in its row, as someone who controls the database could. The audit still
// has the hashes of the report that was signed.
func TestReportChangedTogetherWithItsHashIsFound(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		id := signOff(t, store, "{}")
		drop := `DROP TRIGGER sign_off_no_update`
		if strings.HasPrefix(url, "postgres") {
			drop += ` ON sign_off`
		}
		force(t, store, drop)
		show := func() error {
			return store.View(t.Context(), func(reader landfall.View) error {
				_, err := reader.SignOff(t.Context(), id)
				return err
			})
		}
		if err := show(); err != nil {
			t.Fatal(err)
		}
		forged := sha256.Sum256([]byte("[]"))
		if err := store.Force(t.Context(), `UPDATE sign_off SET report = '[]', report_hash = $1`, forged[:]); err != nil {
			t.Fatal(err)
		}
		if err := show(); err == nil || !strings.Contains(err.Error(), "not the one that was sealed") {
			t.Errorf("the altered report is returned: %v", err)
		}
		if found, _ := inspect(t, store); len(found) != 1 || !strings.Contains(found[0], "is not the one that was sealed") {
			t.Errorf("found %v", found)
		}
		// The entry of the audit is changed to match, after it was chained.
		if _, _, err := store.ChainAudit(t.Context(), landfall.Watermark{}); err != nil {
			t.Fatal(err)
		}
		genuine := sha256.Sum256([]byte("{}"))
		force(t, store, fmt.Sprintf(`UPDATE audit SET detail = replace(detail, '%x', '%x')`, genuine, forged))
		if err := show(); err == nil || !strings.Contains(err.Error(), "audit") {
			t.Errorf("the altered report is returned: %v", err)
		}
	})
}

// signOff signs a report as the operator does.
func signOff(t *testing.T, store *sqlstore.Store, report string) (id int64) {
	t.Helper()
	signed := landfall.SignOff{Supplier: testKey.Supplier, Actor: "operator:ada", Report: []byte(report), Page: []byte("<p>")}
	if err := store.Update(t.Context(), func(tx landfall.Tx) (err error) {
		if id, err = tx.CreateSignOff(t.Context(), signed); err != nil {
			return err
		}
		return tx.AppendAudit(t.Context(), landfall.AuditEntry{Actor: signed.Actor, Action: landfall.SignOffAction, Subject: signed.Supplier,
			Detail: landfall.SignOffDetail(id, sha256.Sum256(signed.Report), sha256.Sum256(signed.Page))})
	}); err != nil {
		t.Fatal(err)
	}
	return id
}
