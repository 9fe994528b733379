package sqlstore_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/service/upkeep"
	"landfall/internal/store/sqlstore"
)

// setShortRetention sets the retention of every supplier's staged documents to
// almost nothing.
func setShortRetention(t *testing.T, store *sqlstore.Store) {
	t.Helper()
	if err := store.Force(t.Context(), `UPDATE supplier SET keep_staged = 1, undo_window = 0`); err != nil {
		t.Fatal(err)
	}
}

// TestOnlyOneServerPurges checks that a purge runs only when it is due, whichever
// server asks.
func TestOnlyOneServerPurges(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		round := func(documents int) {
			t.Helper()
			if gone, err := upkeep.PurgeIfDue(t.Context(), store); err != nil || gone.Documents != documents {
				t.Errorf("%+v, %v, want %d documents", gone, err, documents)
			}
		}
		prepareStore(t, store, "1", "2")
		due := func() {
			t.Helper()
			if err := store.Force(t.Context(), `UPDATE purge_schedule SET due_at = {now} - 1`); err != nil {
				t.Fatal(err)
			}
		}
		round(0) // nothing is old enough
		setShortRetention(t, store)
		due()
		round(2)
		number := testKey
		number.External = "3"
		text := []byte(`{}`)
		if _, err := store.Stage(t.Context(), landfall.Staging{Key: number, Document: text, Hash: sha256.Sum256(text)}); err != nil {
			t.Fatal(err)
		}
		round(0) // the last purge was a moment ago
		// A server that began a purge and died has left its lease behind.
		if err := store.Force(t.Context(), `UPDATE purge_schedule SET due_at = {now} + $1`, time.Hour.Microseconds()); err != nil {
			t.Fatal(err)
		}
		round(0)
		due()
		round(1)
	})
}

// TestUndoneAccountKeepsItsDocument undoes an account that was staged longer ago
// than documents are kept. The undo counts as the last touch: otherwise the next
// purge would remove the document that the account is to be created from again.
func TestUndoneAccountKeepsItsDocument(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1", "2")
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: claimNumber(t, store, "1"), Account: sampleAccount(t)}); err != nil {
			t.Fatal(err)
		}
		force(t, store, `UPDATE process SET first_staged_at = first_staged_at - 8640000000000, staged_at = staged_at - 8640000000000`)
		force(t, store, `UPDATE supplier SET keep_staged = 7776000000000`)
		if outcome := undo(t, store, "1"); outcome.Verdict != landfall.Undone {
			t.Fatalf("got %+v", outcome)
		}
		purged := func(want int) {
			t.Helper()
			force(t, store, `UPDATE purge_schedule SET due_at = {now} - 1`)
			if gone, err := upkeep.PurgeIfDue(t.Context(), store); err != nil || gone.Documents != want {
				t.Errorf("%+v, %v, want %d", gone, err, want)
			}
		}
		purged(1) // of the other account
		claim := claimNumber(t, store, "1")
		if len(claim.Document) == 0 {
			t.Errorf("%+v", claim)
		}
		force(t, store, `UPDATE process SET state = 'staged', claim_token = NULL, claim_until = NULL`)
		force(t, store, `UPDATE undone_account SET undone_at = undone_at - 8640000000000`)
		purged(1)
	})
}

// TestPurgedDocumentsAreNotReportedAsDamage checks that the inspection tells
// purged documents from lost ones.
func TestPurgedDocumentsAreNotReportedAsDamage(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		prepareStore(t, store, "1", "2")
		setShortRetention(t, store)
		if gone, err := upkeep.PurgeIfDue(t.Context(), store); err != nil || gone.Documents != 2 {
			t.Fatalf("%+v, %v", gone, err)
		}
		for _, plant := range []struct{ text, back, want string }{
			{``, ``, ``},
			{`UPDATE staging SET purged_at = NULL`, `UPDATE staging SET purged_at = 1`, "is not the document that was staged"},
			{`UPDATE process SET hash = (SELECT g.hash FROM staging g WHERE g.process_id = process.id)`, `UPDATE process SET hash = CAST('' AS {bytes})`,
				"the same could not be staged again"},
		} {
			if plant.text != "" {
				if err := store.Force(t.Context(), plant.text); err != nil {
					t.Fatal(err)
				}
			}
			found, _ := inspect(t, store)
			if wanted := plant.want != ""; wanted != (len(found) > 0) || wanted && !strings.Contains(strings.Join(found, "\n"), plant.want) {
				t.Errorf("%s: found %v", plant.text, found)
			}
			if plant.back != "" {
				if err := store.Force(t.Context(), plant.back); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
