package sqlstore_test

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// TestInspectionFindsWrongSums damages what is kept of a supplier as a whole,
// and the rows behind it.
func TestInspectionFindsWrongSums(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := created(t, url)
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Fatalf("nothing is damaged, and yet %v", found)
		}
		for _, damage := range []struct{ do, undo, want string }{
			{`INSERT INTO tally (supplier_id, standing, figures) SELECT id, 'pending', 'GBP 0 3' FROM supplier`,
				`DELETE FROM tally WHERE figures = 'GBP 0 3'`, "its customers of pending accounts in GBP are kept as 3 and are 0"},
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

// TestSealedReportsCannotBeChanged tries it past the port, and with the guard
// taken away sees the inspection find it.
func TestSealedReportsCannotBeChanged(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := created(t, url)
		ctx := t.Context()
		var id int64
		err := store.Update(ctx, func(tx landfall.Tx) (err error) {
			id, err = tx.CreateSignOff(ctx, landfall.SignOff{Supplier: held.Supplier, Actor: "operator:ada", Report: []byte("{}"), Page: []byte("<p>")})
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
		drop := `DROP TRIGGER sign_off_sealed`
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

// TestFormerAccountsAreCounted brings a database of before figures were kept up
// to date: what was staged and created then counts from its rows.
func TestFormerAccountsAreCounted(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		sum := sha256.Sum256([]byte(`{"spelled":  "as sent"}`))
		hash := "X'" + hex.EncodeToString(sum[:]) + "'"
		if strings.HasPrefix(url, "postgres") {
			hash = `'\x` + hex.EncodeToString(sum[:]) + "'"
		}
		rows := []string{}
		for _, row := range formerRows {
			rows = append(rows, strings.ReplaceAll(row, "{hash}", hash))
		}
		if err := sqlstore.Former(t.Context(), url, 2, rows...); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second time there is nothing left to count
			store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{
				ApplySchema: true,
				Figures: func(document []byte, currency string) landfall.Figures {
					return landfall.Figures{Currency: currency, Accounts: 1, Customers: int64(len(document))}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			err = store.View(t.Context(), func(view landfall.View) error {
				found, err := view.Tallies(t.Context(), "S")
				if err != nil {
					return err
				}
				var failed, made landfall.Sums
				failed.Add(landfall.Figures{Accounts: 1, Customers: int64(len(`{"spelled":  "as sent"}`))})
				figures := landfall.Figures{Accounts: 1, Notes: 1, Balance: 3}
				figures.CountTransaction(landfall.Payment, 1)
				figures.CountTransaction(landfall.Payment, 2)
				made.Add(figures)
				if *found.Of(landfall.StatusFailed, "GBP") != failed || *found.Of(landfall.StatusCreated, "GBP") != made {
					t.Errorf("counted %v", found.Sums)
				}
				counted, err := view.Recount(t.Context(), "S")
				if wrong := found.Differences(&counted); len(wrong) > 0 {
					t.Error(wrong)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			store.Close()
		}
	})
}
