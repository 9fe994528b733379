package sqlstore_test

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"

	"landfall"
)

// TestInspectionFindsWrongSums damages the sums of a supplier and the rows they
// are computed from.
func TestInspectionFindsWrongSums(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := created(t, url)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("nothing is damaged, and yet %v", found)
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
			t.Errorf("everything is mended, and yet %v", found)
		}
	})
}

// TestSealedReportsCannotBeChanged tries to change a signed report without going
// through the port. With the guard removed, the inspection must find the change.
func TestSealedReportsCannotBeChanged(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := created(t, url)
		ctx := t.Context()
		var id int64
		err := store.Update(ctx, func(tx landfall.Tx) (err error) {
			id, err = tx.CreateSignOff(ctx, landfall.SignOff{Supplier: whereClaimed.Supplier, Actor: "operator:ada", Report: []byte("{}"), Page: []byte("<p>")})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, change := range []string{`UPDATE sign_off SET report = '[]'`, `DELETE FROM sign_off`} {
			if err := store.Force(ctx, change); err == nil {
				t.Errorf("%s was done", change)
			}
		}
		err = store.View(ctx, func(view landfall.View) error {
			kept, err := view.SignOff(ctx, id)
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
