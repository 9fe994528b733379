package storetest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"testing"

	"landfall"
)

// stagings are what suppliers send again and again. The same bytes change nothing,
// other bytes are a new revision, and an account that is past that says why not.
var stagings = []check{
	{"the first staging makes a process", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		given := document(key, "one")
		stage(t, store, given, landfall.StagedFirst, 1)
		found := process(t, store, key)
		recent(t, found.FirstStagedAt)
		want := landfall.Process{
			Key: key, State: landfall.Staged, Revision: 1, ContentHash: given.Hash,
			FirstStagedAt: found.FirstStagedAt, StagedAt: found.FirstStagedAt,
		}
		if found != want {
			t.Errorf("got %+v, want %+v", found, want)
		}
	}},
	{"the same content again changes nothing", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		stage(t, store, document(key, "one"), landfall.StagedFirst, 1)
		before := process(t, store, key)
		stage(t, store, document(key, "one"), landfall.StagedAgain, 1)
		if after := process(t, store, key); after != before {
			t.Errorf("was %+v, is %+v", before, after)
		}
		if history := revisions(t, store, key); len(history) != 1 {
			t.Errorf("%d revisions", len(history))
		}
	}},
	{"many at once are staged as each alone", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		at := func(number int) landfall.Key { return landfall.Key{Supplier: code, External: fmt.Sprint(number)} }
		const known, skipped, foreign, broken, unread, all = 3, 70, 131, 140, 550, 600
		stage(t, store, document(at(known), "one"), landfall.StagedFirst, 1)
		update(t, store, func(tx landfall.Tx) error { _, err := tx.Skip(t.Context(), at(skipped), "no"); return err })
		var given []landfall.Staging
		for i := range all {
			given = append(given, document(at(i), "two"))
			given[i].Sound = true
		}
		given[foreign].Key.Supplier = "NOBODY"
		given[broken].Key.External = "\x00"
		given[unread].Document, given[unread].Sound = []byte("{"), false
		check := func(first, again landfall.StageVerdict, revision int) {
			t.Helper()
			for i, result := range store.StageAll(t.Context(), given) {
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
				if result.Err != nil || result.StageOutcome != want {
					t.Errorf("number %d: %+v, want %+v", i, result, want)
				}
			}
		}
		check(landfall.StagedFirst, landfall.StagedAgain, 1)
		check(landfall.StagedAgain, landfall.StagedAgain, 1)
		if history := revisions(t, store, at(known)); len(history) != 2 || !bytes.Equal(history[1].Document, given[known].Document) {
			t.Errorf("the history is %+v", history)
		}
		if got := store.StageAll(t.Context(), nil); len(got) != 0 {
			t.Errorf("nothing is %+v", got)
		}
	}},
	{"other content is the next revision and the earlier one stays", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		contents := []string{"one", "two", "one"}
		for at, content := range contents {
			verdict := landfall.StagedAgain
			if at == 0 {
				verdict = landfall.StagedFirst
			}
			stage(t, store, document(key, content), verdict, at+1)
		}
		history := revisions(t, store, key)
		if len(history) != len(contents) {
			t.Fatalf("%d revisions", len(history))
		}
		for at, revision := range history {
			given := document(key, contents[at])
			if revision.Revision != at+1 || revision.Hash != given.Hash || !bytes.Equal(revision.Document, given.Document) {
				t.Errorf("revision %d is %+v", at+1, revision)
			}
			recent(t, revision.StagedAt)
		}
		found := process(t, store, key)
		if found.Revision != 3 || !found.FirstStagedAt.Equal(history[0].StagedAt) || !found.StagedAt.Equal(history[2].StagedAt) {
			t.Errorf("got %+v", found)
		}
	}},
	{"a supplier that is not Ongoing refuses", func(t *testing.T, store landfall.Store) {
		stage(t, store, document(key, "one"), landfall.RefusedSupplier, 0)
		supply(t, store)
		stage(t, store, document(key, "one"), landfall.StagedFirst, 1)
		for _, status := range []landfall.SupplierStatus{landfall.Paused, landfall.Complete} {
			if err := setStatus(t.Context(), store, status); err != nil {
				t.Fatal(err)
			}
			stage(t, store, document(key, "one"), landfall.RefusedSupplier, 0)
			stage(t, store, document(key, "two"), landfall.RefusedSupplier, 0)
			stage(t, store, document(landfall.Key{Supplier: code, External: "new"}, "one"), landfall.RefusedSupplier, 0)
		}
		if found := process(t, store, key); found.Revision != 1 {
			t.Errorf("got %+v", found)
		}
		if err := setStatus(t.Context(), store, landfall.Ongoing); err != nil {
			t.Fatal(err)
		}
		stage(t, store, document(key, "two"), landfall.StagedAgain, 2)
	}},
	{"an account that exists is told whatever the supplier's status", func(t *testing.T, store landfall.Store) {
		imported(t, store, key.External)
		made := account(t, store, key)
		for _, status := range []landfall.SupplierStatus{landfall.Paused, landfall.Complete} {
			if err := setStatus(t.Context(), store, status); err != nil {
				t.Fatal(err)
			}
			outcome, err := store.Stage(t.Context(), document(key, "two"))
			if err != nil || outcome.Verdict != landfall.RefusedImported || outcome.AccountNumber != made.Number {
				t.Errorf("%s: %+v, %v", status, outcome, err)
			}
		}
	}},
	{"a skipped process refuses until the mark is gone", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		stage(t, store, document(key, "one"), landfall.StagedFirst, 1)
		update(t, store, func(tx landfall.Tx) error {
			state, err := tx.Skip(t.Context(), key, "twin")
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return err
		})
		if found := process(t, store, key); found.State != landfall.Skipped || found.SkipReason != "twin" {
			t.Errorf("got %+v", found)
		}
		stage(t, store, document(key, "one"), landfall.RefusedSkipped, 1)
		stage(t, store, document(key, "two"), landfall.RefusedSkipped, 1)
		update(t, store, func(tx landfall.Tx) error {
			state, err := tx.Skip(t.Context(), key, "another reason")
			want(t, err, landfall.ErrExists)
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return tx.Unskip(t.Context(), key)
		})
		if found := process(t, store, key); found.State != landfall.Staged || found.SkipReason != "" {
			t.Errorf("got %+v", found)
		}
		stage(t, store, document(key, "two"), landfall.StagedAgain, 2)
	}},
	{"a number never staged can be skipped, and nothing of it remains", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Skip(t.Context(), landfall.Key{Supplier: "NONE", External: "1"}, "twin")
			want(t, err, landfall.ErrNotFound)
			want(t, tx.Unskip(t.Context(), key), landfall.ErrNotFound)
			state, err := tx.Skip(t.Context(), key, "twin")
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return err
		})
		if found := process(t, store, key); found.State != landfall.Skipped || found.SkipReason != "twin" || found.Revision != 0 {
			t.Errorf("got %+v", found)
		}
		stage(t, store, document(key, "one"), landfall.RefusedSkipped, 0)
		update(t, store, func(tx landfall.Tx) error {
			state, err := tx.Skip(t.Context(), key, "again")
			want(t, err, landfall.ErrExists)
			if state != landfall.Skipped {
				t.Errorf("state %s", state)
			}
			return tx.Unskip(t.Context(), key)
		})
		look(t, store, func(view landfall.View) error {
			_, err := view.Process(t.Context(), key)
			want(t, err, landfall.ErrNotFound)
			return nil
		})
		stage(t, store, document(key, "one"), landfall.StagedFirst, 1)
		update(t, store, func(tx landfall.Tx) error {
			want(t, tx.Unskip(t.Context(), key), landfall.ErrNotFound)
			return nil
		})
	}},
	{"an absent process is not found and has no history", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		look(t, store, func(view landfall.View) error {
			_, err := view.Process(t.Context(), key)
			want(t, err, landfall.ErrNotFound)
			history, err := view.Revisions(t.Context(), key)
			if len(history) != 0 {
				t.Errorf("got %+v", history)
			}
			return err
		})
	}},
	{"the same number of two suppliers are two processes", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		update(t, store, func(tx landfall.Tx) error {
			return tx.CreateSupplier(t.Context(), landfall.NewSupplier("OTHER"))
		})
		stage(t, store, document(key, "one"), landfall.StagedFirst, 1)
		stage(t, store, document(landfall.Key{Supplier: "OTHER", External: key.External}, "two"), landfall.StagedFirst, 1)
	}},
	{"a big document comes back byte for byte", func(t *testing.T, store landfall.Store) {
		supply(t, store)
		given := document(key, "x")
		given.Document = []byte("{ \"b\":1,\n\t\"a\" : 1.10, \"long\":\"" + string(bytes.Repeat([]byte("é\\u0041"), 200_000)) + "\"}")
		given.Hash = sha256.Sum256(given.Document)
		stage(t, store, given, landfall.StagedFirst, 1)
		if history := revisions(t, store, key); !bytes.Equal(history[0].Document, given.Document) {
			t.Error("the document came back otherwise")
		}
	}},
}
