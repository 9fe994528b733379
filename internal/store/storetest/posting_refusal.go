package storetest

import (
	"fmt"
	"testing"

	"landfall"
)

// postingRefusals are about postings that were refused.
var postingRefusals = []promiseCheck{
	// Nobody reads every response of a migration. What is missing on an account
	// must be on record until it is there.
	{"the last refusal of each kind of posting is known until one is accepted", refusedPostings},
	{"a refused posting of an account that does not exist leaves nothing", refusedWithoutAccount},
	{"a difference is on record until the account is delivered without one", recordedDifference},
	{"an undone or erased account has no refused postings", refusedThenUndone},
}

// refusePosting records a refused posting.
func refusePosting(t *testing.T, store landfall.Store, key landfall.Key, kind landfall.PostingKind, code string) {
	t.Helper()
	err := store.RefusePosting(t.Context(), landfall.PostingRefusal{Key: key, Kind: kind, Failure: landfall.Failure{
		Code: code, Detail: "Kanarienvogel", Violations: []landfall.Violation{{Code: code, Attr: "a.0", Detail: "Kanarienvogel"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// refusedKinds lists the refused postings, a page of two at a time.
func refusedKinds(t *testing.T, store landfall.Store) (found []string) {
	t.Helper()
	for query := (landfall.FailureQuery{Supplier: supplierCode, Limit: 2}); ; {
		count := 0
		for failed, err := range store.Failed(t.Context(), query) {
			if err != nil {
				t.Fatal(err)
			}
			if failed.Failure.Detail != "" || failed.Failure.Violations[0].Detail != "" || failed.Failure.Violations[0].Attr != "a.0" {
				t.Errorf("%+v", failed)
			}
			recent(t, failed.Failure.At)
			found = append(found, fmt.Sprint(failed.External, " ", failed.Failure.Posting, " ", failed.Failure.Code))
			query.After, query.AfterPosting = failed.External, failed.Failure.Posting
			count++
		}
		if count < query.Limit {
			return found
		}
	}
}

func refusedPostings(t *testing.T, store landfall.Store) {
	staged(t, store, "1", "2")
	for _, external := range []string{"1", "2"} {
		create(t, store, claimFor(t, store, claimRequest(numbered(external)), landfall.ClaimGranted), sampleAccount())
	}
	for _, kind := range landfall.PostingKinds {
		if kind == landfall.PostingTarget {
			continue // a refusal of the target is stored with the delivery
		}
		refusePosting(t, store, numbered("1"), kind, "x")
		refusePosting(t, store, numbered("1"), kind, "y")
	}
	refusePosting(t, store, numbered("2"), landfall.PostingNotes, "z")
	refusePosting(t, store, numbered("1"), landfall.PostingAccount, "not a failed posting")
	wantEqual(t, refusedKinds(t, store), []string{
		"1 NOTES y", "1 PAYMENT_INSTRUCTION y", "1 STATEMENTS y", "1 TRANSACTIONS y", "2 NOTES z",
	})
	summary, err := store.FailureSummary(t.Context(), supplierCode)
	if err != nil || summary.Accounts != 2 {
		t.Errorf("%+v, %v", summary, err)
	}
	send := func(kind landfall.PostingKind, added landfall.Additions, err error) {
		t.Helper()
		_, posted := store.Post(t.Context(), landfall.Posting{Key: numbered("1"), Kind: kind, Decide: func(landfall.AccountState) (landfall.Additions, error) {
			return added, err
		}})
		if (posted == nil) != (err == nil) {
			t.Errorf("posting %s: %v", kind, posted)
		}
	}
	// Only an accepted posting of the same kind counts, also one that adds nothing
	// new.
	send(landfall.PostingNotes, landfall.Additions{}, landfall.Refuse("again", ""))
	send(landfall.PostingInstruction, landfall.Additions{Undecided: true}, nil)
	send(landfall.PostingStatements, landfall.Additions{}, nil)
	send(landfall.PostingTransactions, landfall.Additions{Notes: []landfall.Note{{Body: "n", HasBody: true}}}, nil)
	wantEqual(t, refusedKinds(t, store), []string{"1 NOTES y", "1 PAYMENT_INSTRUCTION y", "2 NOTES z"})
	told := 0
	inView(t, store, func(view landfall.View) error {
		events, err := view.Events(t.Context(), numbered("1"))
		for _, event := range events {
			if event.Type == landfall.EventPostingFailed && event.AccountNumber != "" && event.Details["at"] != "" && event.Details["code"] != "" {
				told++
			}
		}
		return err
	})
	if told != 8 {
		t.Errorf("%d events", told)
	}
	checkInspection(t, store)
}

func refusedWithoutAccount(t *testing.T, store landfall.Store) {
	staged(t, store, "1")
	refusePosting(t, store, numbered("1"), landfall.PostingNotes, "x")
	refusePosting(t, store, numbered("nobody"), landfall.PostingNotes, "x")
	refusePosting(t, store, landfall.Key{Supplier: "NONE", External: "1"}, landfall.PostingNotes, "x")
	if found := refusedKinds(t, store); len(found) > 0 {
		t.Errorf("%v", found)
	}
}

func recordedDifference(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	stage(t, store, newStaging(testKey, "one"), landfall.StagedFirst, 1)
	create(t, store, claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted), sampleAccount())
	refusePosting(t, store, testKey, landfall.PostingNotes, "x")
	want := func(differed bool, kinds ...landfall.PostingKind) {
		t.Helper()
		for _, content := range []string{"one", "other"} {
			outcome, err := store.Stage(t.Context(), newStaging(testKey, content))
			if err != nil || outcome.Verdict != landfall.RefusedImported || outcome.Differed != differed {
				t.Errorf("%s: %+v, %v", content, outcome, err)
			}
		}
		var found []landfall.PostingKind
		inView(t, store, func(view landfall.View) error {
			refused, err := view.RefusedPostings(t.Context(), testKey)
			for _, one := range refused {
				found = append(found, one.Posting)
			}
			return err
		})
		wantEqual(t, found, kinds)
	}
	want(false, landfall.PostingNotes)
	refusePosting(t, store, testKey, landfall.PostingAccount, "x")
	want(true, landfall.PostingAccount, landfall.PostingNotes)
	if err := store.RefusePosting(t.Context(), landfall.PostingRefusal{Key: testKey, Kind: landfall.PostingAccount}); err != nil {
		t.Error(err)
	}
	want(false, landfall.PostingNotes)
	checkInspection(t, store)
}

func refusedThenUndone(t *testing.T, store landfall.Store) {
	staged(t, store, "1", "2")
	for _, external := range []string{"1", "2"} {
		create(t, store, claimFor(t, store, claimRequest(numbered(external)), landfall.ClaimGranted), sampleAccount())
		refusePosting(t, store, numbered(external), landfall.PostingNotes, "x")
	}
	undo(t, store, landfall.UndoRequest{Key: numbered("1")}, landfall.Undone)
	update(t, store, func(tx landfall.Tx) error {
		_, err := tx.Erase(t.Context(), numbered("2"))
		return err
	})
	if found := refusedKinds(t, store); len(found) > 0 {
		t.Errorf("%v", found)
	}
	checkInspection(t, store)
}
