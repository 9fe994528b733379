package sqlstore_test

import (
	"errors"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/seal"
	"landfall/internal/store/sqlstore"
)

// moved is a sealed value and the location it is copied to.
type moved struct{ what, from, table, column, row string }

// TestMovedValuesDoNotOpen copies sealed values to where they do not belong: into
// another row, another column and another person's account. An attacker with
// write access to the database could do this to have them shown as another
// person's data.
func TestMovedValuesDoNotOpen(t *testing.T) {
	t.Parallel()
	onFiles(t, func(t *testing.T, url string) {
		store := openStore(t, url, seal.NewKey())
		writePersonalData(t, store, "word")
		if _, err := store.Stage(t.Context(), stagingWithWord("5", "other")); err != nil {
			t.Fatal(err)
		}
		create(t, store, "5", accountWithWord(t, "other"), "other")
		const mine = `account_id = (SELECT id FROM process WHERE external = '1')`
		const other = `account_id = (SELECT id FROM process WHERE external = '5')`
		for _, one := range []moved{
			{"another customer's", `SELECT email FROM customer WHERE ordinal = 2 AND ` + mine, "customer", "email", "ordinal = 1 AND " + mine},
			{"another column's", `SELECT family_name FROM customer WHERE ordinal = 1 AND ` + mine, "customer", "email", "ordinal = 1 AND " + mine},
			{"another note's", `SELECT body FROM note WHERE ordinal = 3 AND ` + mine, "note", "body", "ordinal = 1 AND " + mine},
			{"another account's name", `SELECT family_name FROM customer WHERE ordinal = 1 AND ` + other, "customer", "family_name", "ordinal = 1 AND " + mine},
			{"another account's note", `SELECT body FROM note WHERE ordinal = 1 AND ` + other, "note", "body", "ordinal = 1 AND " + mine},
			{"another account's reference", `SELECT reference FROM instruction WHERE ` + other, "instruction", "reference", "ordinal = 1 AND " + mine},
		} {
			one.try(t, store)
		}
		checkPersonalData(t, store, "word") // every value was restored, so each move was tested alone
		force(t, store, `UPDATE staging SET document = (SELECT g.document FROM staging g JOIN process p ON p.id = g.process_id WHERE p.external = '2')
			WHERE process_id = (SELECT id FROM process WHERE external = '1')`)
		if found, _ := inspect(t, store); len(found) != 2 { // its hash and its seal are wrong
			t.Errorf("found %v", found)
		}
	})
}

// try moves the value, checks that the account is not shown with it, and restores
// the original value.
func (m moved) try(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	kept := func(query string) string {
		found, err := store.Texts(t.Context(), query)
		if err != nil || len(found) == 0 || strings.Contains(found[0], "word") || found[0] == "" {
			t.Fatalf("%s: nothing sealed is there: %q, %v", m.what, found, err)
		}
		return found[0]
	}
	strange, own := kept(m.from), kept(`SELECT `+m.column+` FROM `+m.table+` WHERE `+m.row)
	force(t, store, `UPDATE `+m.table+` SET `+m.column+` = '`+strange+`' WHERE `+m.row)
	var shown landfall.Account
	err := store.View(t.Context(), func(reader landfall.View) (err error) {
		shown, err = reader.Account(t.Context(), testKey)
		return err
	})
	if !errors.Is(err, seal.ErrAltered) {
		t.Errorf("%s value was shown: %v, %+v", m.what, err, shown)
	}
	force(t, store, `UPDATE `+m.table+` SET `+m.column+` = '`+own+`' WHERE `+m.row)
}
