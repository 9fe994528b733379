package storetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"reflect"
	"testing"

	"landfall"
)

// stagingChecks are about documents that suppliers send again and again. The same
// bytes change nothing, other bytes are a new revision, and an account that can
// no longer be staged says why.
var stagingChecks = []promiseCheck{
	// The process is compared as a whole: a field added by a later feature must
	// be empty at the beginning. Both times are the same, since nothing else
	// has been staged.
	{"the first staging creates a process", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		given := newStaging(testKey, "one")
		stage(t, store, given, landfall.StagedFirst, 1)
		found := readProcess(t, store, testKey)
		recent(t, found.FirstStagedAt)
		want := landfall.Process{
			Key: testKey, State: landfall.Staged, Revision: 1, ContentHash: given.Hash,
			FirstStagedAt: found.FirstStagedAt, StagedAt: found.FirstStagedAt,
		}
		if found != want {
			t.Errorf("got %+v, want %+v", found, want)
		}
	}},
	// Suppliers send whole books again whenever they are in doubt. If each time
	// made a revision, real changes could not be found among them, and a change
	// of only the time would make untouched accounts look new.
	{"the same content again changes nothing", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
		before := readProcess(t, store, testKey)
		stage(t, store, newStaging(testKey, "one"), landfall.StagedAgain, 1)
		if after := readProcess(t, store, testKey); after != before {
			t.Errorf("was %+v, is %+v", before, after)
		}
		if history := readRevisions(t, store, testKey); len(history) != 1 {
			t.Errorf("%d revisions", len(history))
		}
	}},
	// A book of hundreds of accounts has a bad one now and then. The good ones
	// must not be lost with it, nor get its verdict. The bad ones are far
	// apart, so that a verdict assigned to a neighbour is noticed.
	{"StageAll has the same outcomes as single stagings", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		at := func(number int) landfall.Key {
			return landfall.Key{Supplier: supplierCode, External: fmt.Sprint(number)}
		}
		const known, skipped, foreign, broken, unread, all = 3, 70, 131, 140, 550, 600
		stage(t, store, newStaging(at(known), "one"), landfall.StagedFirst, 1)
		update(t, store, func(tx landfall.Tx) error { _, err := tx.Skip(t.Context(), at(skipped), "no"); return err })
		var given []landfall.Staging
		for i := range all {
			given = append(given, newStaging(at(i), "two"))
			given[i].ValidJSON = true
		}
		given[foreign].Key.Supplier = "NOBODY"
		given[broken].Key.External = "\x00"
		// The other documents are marked as valid JSON by the caller. A store
		// may skip checking those again; this one shows that it still checks
		// the rest.
		given[unread].Document, given[unread].ValidJSON = []byte("{"), false
		check := func(first, again landfall.StageVerdict, revision int) {
			t.Helper()
			for i, result := range store.StageAll(t.Context(), given, nil) {
				want := landfall.StageOutcome{Verdict: first, Revision: revision}
				switch i {
				case known:
					want = landfall.StageOutcome{Verdict: again, Revision: 2}
				case skipped:
					want = landfall.StageOutcome{Verdict: landfall.RefusedSkipped}
				case foreign:
					want = landfall.StageOutcome{Verdict: landfall.RefusedSupplier}
				case broken, unread:
					if result.Err == nil {
						t.Errorf("number %d was taken", i)
					}
					continue
				}
				if result.Err != nil || !reflect.DeepEqual(result.StageOutcome, want) {
					t.Errorf("number %d: %+v, want %+v", i, result, want)
				}
			}
		}
		check(landfall.StagedFirst, landfall.StagedAgain, 1)
		check(landfall.StagedAgain, landfall.StagedAgain, 1)
		if history := readRevisions(t, store, at(known)); len(history) != 2 || !bytes.Equal(history[1].Document, given[known].Document) {
			t.Errorf("the history is %+v", history)
		}
		if got := store.StageAll(t.Context(), nil, nil); len(got) != 0 {
			t.Errorf("found %+v, want nothing", got)
		}
	}},
	// A long book is new for a long time, so a store may assume that the next
	// accounts are new as well. Then one of them is not, or was refused before,
	// or the supplier was closed. Neither the responses nor the sums may show
	// the difference.
	{"a long batch with known accounts has the same outcomes as single stagings", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		at := func(number int) landfall.Key {
			return landfall.Key{Supplier: supplierCode, External: fmt.Sprint(number)}
		}
		send := func(from, to int, content string, want func(int) landfall.StageOutcome) {
			t.Helper()
			var given []landfall.Staging
			for i := from; i < to; i++ {
				given = append(given, newStaging(at(i), content))
			}
			for i, result := range store.StageAll(t.Context(), given, nil) {
				if result.Err != nil || !reflect.DeepEqual(result.StageOutcome, want(from+i)) {
					t.Errorf("number %d: %+v, want %+v", from+i, result, want(from+i))
				}
			}
		}
		first := func(int) landfall.StageOutcome {
			return landfall.StageOutcome{Verdict: landfall.StagedFirst, Revision: 1}
		}
		send(0, 150, "one", first)
		send(150, 300, "one", first)
		send(299, 500, "two", func(number int) landfall.StageOutcome {
			if number == 299 {
				return landfall.StageOutcome{Verdict: landfall.StagedAgain, Revision: 2}
			}
			return first(number)
		})
		if err := store.Refuse(t.Context(), landfall.Refusal{Key: at(600), Failure: landfall.Failure{Code: "x"}}); err != nil {
			t.Fatal(err)
		}
		if refused := checkTallies(t, store).Refused; refused != 1 {
			t.Errorf("%d are refused", refused)
		}
		send(500, 700, "one", first)
		found := checkTallies(t, store)
		if found.Refused != 0 {
			t.Errorf("%d are refused", found.Refused)
		}
		sums(t, found, landfall.StatusPending, 700, landfall.Figures{Accounts: 1})
		if err := setStatus(t.Context(), store, landfall.Paused); err != nil {
			t.Fatal(err)
		}
		send(600, 900, "three", func(int) landfall.StageOutcome { return landfall.StageOutcome{Verdict: landfall.RefusedSupplier} })
		if history := readRevisions(t, store, at(299)); len(history) != 2 || !bytes.Equal(history[1].Document, newStaging(at(299), "two").Document) {
			t.Errorf("the history is %+v", history)
		}
	}},
	// When a supplier and an operator disagree about what was sent, the history
	// decides. The third content equals the first: it is compared only with the
	// newest revision, or a supplier that goes back to earlier content would be
	// told that nothing changed.
	{"other content is the next revision, and the earlier one is kept", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		contents := []string{"one", "two", "one"}
		for at, content := range contents {
			verdict := landfall.StagedAgain
			if at == 0 {
				verdict = landfall.StagedFirst
			}
			stage(t, store, newStaging(testKey, content), verdict, at+1)
		}
		history := readRevisions(t, store, testKey)
		if len(history) != len(contents) {
			t.Fatalf("%d revisions", len(history))
		}
		for at, revision := range history {
			given := newStaging(testKey, contents[at])
			if revision.Revision != at+1 || revision.Hash != given.Hash || !bytes.Equal(revision.Document, given.Document) {
				t.Errorf("revision %d is %+v", at+1, revision)
			}
			recent(t, revision.StagedAt)
		}
		found := readProcess(t, store, testKey)
		if found.Revision != 3 || !found.FirstStagedAt.Equal(history[0].StagedAt) || !found.StagedAt.Equal(history[2].StagedAt) {
			t.Errorf("got %+v", found)
		}
	}},
	// After a pause or the end of a migration nothing may change any more, not
	// even with the existing content: a caller that was told "staged" would
	// expect an account. When the supplier resumes, the case checks that the
	// existing data is unchanged.
	{"a supplier that is not Ongoing refuses", func(t *testing.T, store landfall.Store) {
		stage(t, store, newStaging(testKey, "one"), landfall.RefusedSupplier, 0)
		createSupplier(t, store)
		stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
		for _, status := range []landfall.SupplierStatus{landfall.Paused, landfall.Complete} {
			if err := setStatus(t.Context(), store, status); err != nil {
				t.Fatal(err)
			}
			stage(t, store, newStaging(testKey, "one"), landfall.RefusedSupplier, 0)
			stage(t, store, newStaging(testKey, "two"), landfall.RefusedSupplier, 0)
			stage(t, store, newStaging(landfall.Key{Supplier: supplierCode, External: "new"}, "one"), landfall.RefusedSupplier, 0)
		}
		if found := readProcess(t, store, testKey); found.Revision != 1 {
			t.Errorf("got %+v", found)
		}
		if err := setStatus(t.Context(), store, landfall.Ongoing); err != nil {
			t.Fatal(err)
		}
		stage(t, store, newStaging(testKey, "two"), landfall.StagedAgain, 2)
	}},
	// A caller that stages an existing account needs its number, not the
	// supplier's status: the migration may be complete because all of its
	// accounts exist.
	{"an existing account is reported whatever the supplier's status", func(t *testing.T, store landfall.Store) {
		importAccounts(t, store, testKey.External)
		made := readAccount(t, store, testKey)
		for _, status := range []landfall.SupplierStatus{landfall.Paused, landfall.Complete} {
			if err := setStatus(t.Context(), store, status); err != nil {
				t.Fatal(err)
			}
			outcome, err := store.Stage(t.Context(), newStaging(testKey, "two"))
			if err != nil || outcome.Verdict != landfall.RefusedImported || outcome.AccountNumber != made.Number {
				t.Errorf("%s: %+v, %v", status, outcome, err)
			}
		}
	}},
	// The mark is an operator's decision, and a supplier that sends the account
	// once more must not undo it. A second mark changes nothing: the first
	// reason stays, since it was true when the mark was set.
	{"a skipped process refuses stagings until it is unskipped", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
		update(t, store, func(tx landfall.Tx) error {
			state, err := tx.Skip(t.Context(), testKey, "twin")
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return err
		})
		if found := readProcess(t, store, testKey); found.State != landfall.Skipped || found.SkipReason != "twin" {
			t.Errorf("got %+v", found)
		}
		stage(t, store, newStaging(testKey, "one"), landfall.RefusedSkipped, 1)
		stage(t, store, newStaging(testKey, "two"), landfall.RefusedSkipped, 1)
		update(t, store, func(tx landfall.Tx) error {
			state, err := tx.Skip(t.Context(), testKey, "another reason")
			wantError(t, err, landfall.ErrExists)
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return tx.Unskip(t.Context(), testKey)
		})
		if found := readProcess(t, store, testKey); found.State != landfall.Staged || found.SkipReason != "" {
			t.Errorf("got %+v", found)
		}
		stage(t, store, newStaging(testKey, "two"), landfall.StagedAgain, 2)
	}},
	// Marks are often set before a supplier begins to send. The process that
	// carries such a mark was never staged. If it outlived the mark, every list
	// would show an account that was never sent. For the same reason, the first
	// staging afterwards counts as the first.
	{"a number that was never staged can be skipped and unskipped", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), landfall.Key{Supplier: "NONE", External: "1"}, "twin")
			wantError(t, err, landfall.ErrNotFound)
			wantError(t, tx.Unskip(t.Context(), testKey), landfall.ErrNotFound)
			state, err := tx.Skip(t.Context(), testKey, "twin")
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return err
		})
		if found := readProcess(t, store, testKey); found.State != landfall.Skipped || found.SkipReason != "twin" || found.Revision != 0 {
			t.Errorf("got %+v", found)
		}
		stage(t, store, newStaging(testKey, "one"), landfall.RefusedSkipped, 0)
		update(t, store, func(tx landfall.Tx) error {
			state, err := tx.Skip(t.Context(), testKey, "again")
			wantError(t, err, landfall.ErrExists)
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return tx.Unskip(t.Context(), testKey)
		})
		inView(t, store, func(view landfall.View) error {
			_, err := view.Process(t.Context(), testKey)
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
		stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.Unskip(t.Context(), testKey), landfall.ErrNotFound)
			return nil
		})
	}},
	// An empty history is not an error: a caller reads it together with the
	// process, which already says that there is nothing.
	{"an absent process is not found and has no history", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		inView(t, store, func(view landfall.View) error {
			_, err := view.Process(t.Context(), testKey)
			wantError(t, err, landfall.ErrNotFound)
			history, err := view.Revisions(t.Context(), testKey)
			if len(history) != 0 {
				t.Errorf("got %+v", history)
			}
			return err
		})
	}},
	// Suppliers number their accounts as they like, and most start at one. A
	// store that ignored the supplier in a key would give one customer's
	// account to another.
	{"the same number of two suppliers are two processes", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			return tx.CreateSupplier(t.Context(), landfall.NewSupplier("OTHER"))
		})
		stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
		stage(t, store, newStaging(landfall.Key{Supplier: "OTHER", External: testKey.External}, "two"), landfall.StagedFirst, 1)
	}},
	// The hash is over the bytes, and a document that was returned differently
	// would look as if it had been tampered with. Spaces, the order of names,
	// 1.10 and an escaped letter are what a database that parses JSON would
	// normalise. The document is far longer than a page of either database.
	{"a large document is read back byte for byte", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		given := newStaging(testKey, "x")
		given.Document = []byte("{ \"b\":1,\n\t\"a\" : 1.10, \"long\":\"" + string(bytes.Repeat([]byte("é\\u0041"), 200_000)) + "\"}")
		given.Hash = sha256.Sum256(given.Document)
		stage(t, store, given, landfall.StagedFirst, 1)
		if history := readRevisions(t, store, testKey); !bytes.Equal(history[0].Document, given.Document) {
			t.Error("the document was read back differently")
		}
	}},
}
