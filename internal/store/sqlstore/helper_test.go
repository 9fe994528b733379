package sqlstore_test

import (
	"crypto/sha256"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

var testKey = landfall.Key{Supplier: "S", External: "1"}

// openStaged opens a fresh store with one staged process.
func openStaged(t *testing.T, url string) *sqlstore.Store {
	t.Helper()
	store := openStore(t, url)
	err := store.Update(t.Context(), func(tx landfall.Tx) error {
		return tx.CreateSupplier(t.Context(), landfall.NewSupplier("S"))
	})
	if err != nil {
		t.Fatal(err)
	}
	if outcome := stageDocument(t, store, `{"a":1}`); outcome.Verdict != landfall.StagedFirst {
		t.Fatalf("got %+v", outcome)
	}
	return store
}

func stageDocument(t *testing.T, store landfall.Store, document string) landfall.StageOutcome {
	t.Helper()
	outcome, err := store.Stage(t.Context(), landfall.Staging{
		Key: testKey, Document: []byte(document), Hash: sha256.Sum256([]byte(document)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func onEach(t *testing.T, test func(t *testing.T, url string)) { dbtest.Each(t, test) }

// onEmpty is like onEach, with databases that have no schema yet.
func onEmpty(t *testing.T, test func(t *testing.T, url string)) {
	for name, fresh := range empty {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func force(t *testing.T, store *sqlstore.Store, text string) {
	t.Helper()
	if err := store.Force(t.Context(), text); err != nil {
		t.Fatal(err)
	}
}

func readProcess(t *testing.T, store landfall.Store) (found landfall.Process) {
	t.Helper()
	err := store.View(t.Context(), func(reader landfall.View) (err error) {
		found, err = reader.Process(t.Context(), testKey)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestClaimedProcessIsNotStaged changes an account that is just being created.
// The new data would be recorded but would not be in the account.
func TestClaimedProcessIsNotStaged(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url)
		force(t, store, `UPDATE process SET state = 'claimed', claim_token = 'x', claim_until = {now} + 60000000`)
		if found := readProcess(t, store); found.State != landfall.Claimed {
			t.Errorf("got %+v", found)
		}
		for _, document := range []string{`{"a":1}`, `{"a":2}`} {
			if outcome := stageDocument(t, store, document); outcome.Verdict != landfall.RefusedClaimed || outcome.Revision != 1 {
				t.Errorf("got %+v", outcome)
			}
		}
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			found, err := tx.Skip(t.Context(), testKey, "twin")
			if found != landfall.Claimed {
				t.Errorf("got %s", found)
			}
			return err
		})
		if !errors.Is(err, landfall.ErrExists) {
			t.Errorf("got %v", err)
		}
		if found := listNumbers(t, store, landfall.PendingProcesses); !slices.Equal(found, []string{"1"}) {
			t.Errorf("got %v", found)
		}
	})
}

// TestExpiredClaimDoesNotCount finds the claim of a server that died. If it
// counted, the account could never be created.
func TestExpiredClaimDoesNotCount(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url)
		ended := `UPDATE process SET state = 'claimed', claim_token = 'x', claim_until = {now} - 1000`
		force(t, store, ended)
		if found := readProcess(t, store); found.State != landfall.Staged {
			t.Errorf("got %+v", found)
		}
		if outcome := stageDocument(t, store, `{"a":1}`); outcome.Verdict != landfall.StagedAgain || outcome.Revision != 1 {
			t.Errorf("got %+v", outcome)
		}
		if outcome := stageDocument(t, store, `{"a":2}`); outcome.Verdict != landfall.StagedAgain || outcome.Revision != 2 {
			t.Errorf("got %+v", outcome)
		}
		force(t, store, ended)
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), testKey, "twin")
			return err
		})
		if err != nil || readProcess(t, store).State != landfall.Skipped {
			t.Errorf("got %v, %+v", err, readProcess(t, store))
		}
	})
}

// TestImportedProcessIsNotStaged changes an account that exists. The staged
// data would never be used, and the caller must be told.
func TestImportedProcessIsNotStaged(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url)
		force(t, store, `UPDATE process SET state = 'imported', account_number = 'A-1', account_created_at = {now}`)
		found := readProcess(t, store)
		if found.State != landfall.Imported || found.AccountNumber != "A-1" || found.AccountCreatedAt.IsZero() {
			t.Errorf("got %+v", found)
		}
		outcome := stageDocument(t, store, `{"a":2}`)
		if !reflect.DeepEqual(outcome, landfall.StageOutcome{Verdict: landfall.RefusedImported, Revision: 1, AccountNumber: "A-1"}) {
			t.Errorf("got %+v", outcome)
		}
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			found, err := tx.Skip(t.Context(), testKey, "twin")
			if found != landfall.Imported {
				t.Errorf("got %s", found)
			}
			return err
		})
		if !errors.Is(err, landfall.ErrExists) {
			t.Errorf("got %v", err)
		}
		for filter, want := range map[landfall.ProcessFilter][]string{
			landfall.AllProcesses: {"1"}, landfall.ImportedProcesses: {"1"}, landfall.PendingProcesses: nil,
		} {
			if found := listNumbers(t, store, filter); !slices.Equal(found, want) {
				t.Errorf("filter %d: got %v", filter, found)
			}
		}
		for entry, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: "S"}) {
			if err != nil || entry.AccountNumber != "A-1" || !entry.AccountCreatedAt.Equal(found.AccountCreatedAt) {
				t.Errorf("got %+v, %v", entry, err)
			}
		}
	})
}

func listNumbers(t *testing.T, store landfall.Store, filter landfall.ProcessFilter) (found []string) {
	t.Helper()
	for entry, err := range store.List(t.Context(), landfall.ProcessQuery{Supplier: "S", Filter: filter}) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, entry.External)
	}
	return found
}

// TestViewCannotWrite bypasses the port, whose View has no methods that write.
func TestViewCannotWrite(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url)
		if err := store.ForceRead(t.Context(), `DELETE FROM staging RETURNING process_id`); err == nil {
			t.Error("a view deleted")
		}
		if count, err := store.Count(t.Context(), `SELECT count(*) FROM staging`); err != nil || count != 1 {
			t.Errorf("%d revisions, %v", count, err)
		}
	})
}

// TestMarksAreSwept checks that young marks are kept: they may still be looked
// up.
func TestMarksAreSwept(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStaged(t, url)
		force(t, store, `UPDATE commit_mark SET at = {now} - 3600000000`)
		if err := store.SweepMarks(t.Context()); err != nil {
			t.Fatal(err)
		}
		// The marks of the two latest changes remain.
		if count, err := store.Count(t.Context(), `SELECT count(*) FROM commit_mark`); err != nil || count != 2 {
			t.Errorf("%d marks, %v", count, err)
		}
	})
}

// TestAlteredDocumentIsNeverUsed changes a staged document without the store's
// knowledge, once so that it still unpacks and once so that it does not.
func TestAlteredDocumentIsNeverUsed(t *testing.T) {
	for name, altered := range map[string]string{"another": `{"a":2}`, "broken": "\x01{", "gone": ""} {
		t.Run(name, func(t *testing.T) {
			onEach(t, func(t *testing.T, url string) {
				store := openStaged(t, url)
				if err := store.Force(t.Context(), `UPDATE staging SET document = $1`, []byte(altered)); err != nil {
					t.Fatal(err)
				}
				if err := store.Update(t.Context(), func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), "T") }); err != nil {
					t.Fatal(err)
				}
				outcome, err := store.Claim(t.Context(), claimRequest("1"))
				if err == nil || outcome.Verdict != 0 || !strings.Contains(err.Error(), `revision 1 of "1" of supplier S`) {
					t.Errorf("got %+v, %v", outcome, err)
				}
				if found := readProcess(t, store); found.State != landfall.Staged {
					t.Errorf("it is %s now", found.State)
				}
				if err := store.View(t.Context(), func(reader landfall.View) error {
					_, err := reader.Revisions(t.Context(), testKey)
					return err
				}); err == nil || !strings.Contains(err.Error(), `revision 1 of "1" of supplier S`) {
					t.Errorf("read as history: %v", err)
				}
			})
		})
	}
}
