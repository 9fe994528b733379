package sqlstore_test

import (
	"strings"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
)

// TestRecountCorrectsSums damages all sums, as an older program beside a newer schema
// could, and corrects them twice at the same time.
func TestRecountCorrectsSums(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		writePersonalData(t, store, newCanary())
		before, _ := inspect(t, store)
		for _, damage := range []string{
			`INSERT INTO tally (supplier_id, standing, figures) SELECT id, 'pending', 'GBP 7 3' FROM supplier`,
			`DELETE FROM tally WHERE standing = 'created'`,
			`UPDATE run SET undone = undone + 5`,
			`INSERT INTO run_slice (run_id, slice, size, succeeded, failed, refused, width, next_at, tries, done)
				SELECT id, 99, 3, 1, 1, 1, 1, 0, 0, TRUE FROM run`,
		} {
			force(t, store, damage)
		}
		if damaged, _ := inspect(t, store); len(damaged) < len(before)+4 {
			t.Fatalf("the damage was not found: %v", damaged)
		}
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() { correctAll(t, store) })
		}
		both.Wait()
		if after, _ := inspect(t, store); strings.Join(after, "\n") != strings.Join(before, "\n") {
			t.Errorf("after the recount: %v, before the damage: %v", after, before)
		}
		if corrected := correctAll(t, store); corrected != 0 {
			t.Errorf("a second recount corrected %d sums", corrected)
		}
	})
}

// correctAll corrects everything as 'landfall recount' does.
func correctAll(t *testing.T, store *sqlstore.Store) (corrected int) {
	for mine := false; !mine; {
		var kept, counted landfall.Tallies
		err := store.View(t.Context(), func(view landfall.View) (err error) {
			if kept, err = view.Tallies(t.Context(), testKey.Supplier); err == nil {
				counted, err = view.Recount(t.Context(), testKey.Supplier)
			}
			return err
		})
		if wrong := len(kept.Differences(&counted)); err == nil && wrong > 0 {
			err = store.Update(t.Context(), func(tx landfall.Tx) (err error) {
				mine, err = tx.CorrectTallies(t.Context(), testKey.Supplier, &kept, &counted)
				return err
			})
			corrected += wrong
		} else {
			mine = true
		}
		if err != nil {
			t.Error(err)
			return corrected
		}
	}
	for at, done := (landfall.RunSumsPosition{}), false; !done; {
		if err := store.Update(t.Context(), func(tx landfall.Tx) (err error) {
			var count int
			count, at, done, err = tx.CorrectRunSums(t.Context(), at)
			corrected += count
			return err
		}); err != nil {
			t.Error(err)
			return corrected
		}
	}
	return corrected
}

// TestRecountCountsWhatIsWrittenMeanwhile corrects sums with a recount that is older
// than some accounts.
func TestRecountCountsWhatIsWrittenMeanwhile(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		force(t, store, `INSERT INTO tally (supplier_id, standing, figures) SELECT id, 'pending', 'GBP 7 3' FROM supplier`)
		var kept, counted landfall.Tallies
		if err := store.View(t.Context(), func(view landfall.View) (err error) {
			if kept, err = view.Tallies(t.Context(), testKey.Supplier); err == nil {
				counted, err = view.Recount(t.Context(), testKey.Supplier)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		stageNumber(t, store, "meanwhile")
		for _, want := range []bool{true, false} { // the same correction must not be applied twice
			if err := store.Update(t.Context(), func(tx landfall.Tx) error {
				mine, err := tx.CorrectTallies(t.Context(), testKey.Supplier, &kept, &counted)
				if mine != want {
					t.Errorf("corrected: %v, want %v", mine, want)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if found, _ := inspect(t, store); len(found) != 0 {
			t.Errorf("found %v", found)
		}
	})
}
