package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"landfall"
)

// undoAgainstSender checks that a mail is either sent, and the account stays, or
// withdrawn. Both sides must win now and then, or the case proves nothing.
func undoAgainstSender(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	enableMails(t, store, supplierCode)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	won := map[bool]int{}
	for number := range 30 {
		own := landfall.Key{Supplier: supplierCode, External: string(rune('a' + number))}
		stage(t, store, newStaging(own, "x"), landfall.StagedFirst, 1)
		createWithMails(t, store, own, "a@mail.co.uk")
		var took landfall.UndoOutcome
		var sent landfall.MailBatch
		atOnce(2, func(side int) {
			var err error
			if side == number%2 {
				took, err = store.Undo(t.Context(), landfall.UndoRequest{Key: own, Actor: undoActor, Reason: undoReason})
			} else {
				sent, err = store.ClaimMails(t.Context(), mailDemand)
			}
			if err != nil {
				t.Error(err)
			}
		})
		won[took.Verdict == landfall.Undone]++
		if (took.Verdict == landfall.Undone) == (len(sent.Mails) == 1) || took.Verdict == landfall.UndoKept && took.Kept != landfall.KeptCustomersTold {
			t.Errorf("undo %+v, mails %+v", took, sent.Mails)
		}
	}
	t.Logf("undone %d, sent %d", won[true], won[false])
}

// undoAgainstPosting checks that an account with postings is not undone, and that
// an undone account gets no postings.
func undoAgainstPosting(t *testing.T, store landfall.Store) {
	const rounds = 40
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	won := map[bool]int{}
	for number := range rounds {
		own := landfall.Key{Supplier: supplierCode, External: string(rune('a' + number))}
		stage(t, store, newStaging(own, "x"), landfall.StagedFirst, 1)
		made := create(t, store, claimFor(t, store, claimRequest(own), landfall.ClaimGranted), sampleAccount())
		var took landfall.UndoOutcome
		var posted landfall.PostOutcome
		atOnce(2, func(side int) {
			var err error
			if side == number%2 {
				took, err = store.Undo(t.Context(), landfall.UndoRequest{Key: own, Actor: undoActor, Reason: undoReason})
			} else {
				posted, err = store.Post(t.Context(), landfall.Posting{Key: own, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
					return landfall.Additions{Entries: addEntries(books, payment("late", 1))}, nil
				}})
			}
			if err != nil {
				t.Error(err)
			}
		})
		won[took.Verdict == landfall.Undone]++
		switch {
		case took.Verdict == landfall.Undone && posted.Verdict == landfall.PostNoAccount:
			wantGone(t, store, own, made.Number)
		case took.Kept == landfall.KeptHasPostings && posted.Verdict == landfall.Posted:
			wantEqual(t, len(readAccount(t, store, own).Ledger), len(sampleAccount().Ledger)+1)
		default:
			t.Errorf("undo %+v, posting %+v", took, posted)
		}
	}
	t.Logf("undone %d, posted to %d", won[true], won[false])
}

// undoAgainstOwnPosting checks that a late posting of the account's own delivery
// is either undone with the account or finds none, and never keeps it.
func undoAgainstOwnPosting(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	late := 0
	for number := range 40 {
		own, made := createFrom(t, store, fmt.Sprint("own ", number), "book")
		var took landfall.UndoOutcome
		var posted landfall.PostOutcome
		atOnce(2, func(side int) {
			var err error
			if side == number%2 {
				took, err = store.Undo(t.Context(), landfall.UndoRequest{Key: own, Actor: undoActor, Reason: undoReason})
			} else {
				posted, err = store.Post(t.Context(), landfall.Posting{
					Key: own, By: landfall.Author{Delivery: "book"},
					Decide: func(books landfall.AccountState) (landfall.Additions, error) {
						return landfall.Additions{Entries: addEntries(books, payment("late", 1))}, nil
					},
				})
			}
			if err != nil {
				t.Error(err)
			}
		})
		if took.Verdict != landfall.Undone || posted.Verdict != landfall.Posted && posted.Verdict != landfall.PostNoAccount {
			t.Errorf("undo %+v, posting %+v", took, posted)
		}
		if posted.Verdict == landfall.PostNoAccount {
			late++
		}
		wantGone(t, store, own, made.Number)
	}
	t.Logf("%d postings came too late", late)
}

// undoAgainstCreation lets one side create what the other undoes, again and
// again. The final state must match the results that each side got.
func undoAgainstCreation(t *testing.T, store landfall.Store) {
	staged(t, store, testKey.External)
	var made, took atomic.Int32
	atOnce(8, func(side int) {
		for range 12 {
			if side%2 == 0 {
				outcome, err := store.Undo(t.Context(), landfall.UndoRequest{Key: testKey, Actor: undoActor, Reason: undoReason})
				if err != nil {
					t.Error(err)
				}
				if outcome.Verdict == landfall.Undone {
					took.Add(1)
				}
				continue
			}
			claimed, err := store.Claim(t.Context(), claimRequest(testKey))
			if err != nil {
				t.Error(err)
			}
			// Another caller has the claim, or the account exists: both are
			// normal here.
			if claimed.Verdict != landfall.ClaimGranted {
				continue
			}
			outcome, err := store.Create(t.Context(), landfall.Creation{Claim: claimed.Claim, Account: sampleAccount()})
			if err != nil || outcome.Verdict != landfall.Created {
				t.Errorf("Create = %+v, %v", outcome, err)
			}
			made.Add(1)
		}
	})
	left := made.Load() - took.Load()
	found := readProcess(t, store, testKey)
	if left != 0 && left != 1 || (left == 1) != (found.State == landfall.Imported) {
		t.Errorf("%d created, %d undone, and the process is %s", made.Load(), took.Load(), found.State)
	}
	if left == 1 {
		// The remaining account must contain nothing of the undone ones.
		balanced(t, readAccount(t, store, testKey))
	}
	// The number belongs to the key for ever.
	lines := undoneAccounts(t, store, testKey)
	for _, line := range lines {
		if line.Number != lines[0].Number || found.AccountNumber != "" && found.AccountNumber != line.Number {
			t.Errorf("the account had the number %s, then %s and is %s", lines[0].Number, line.Number, found.AccountNumber)
		}
	}
	wantEqual(t, len(lines), int(took.Load()))
	t.Logf("%d created, %d undone", made.Load(), took.Load())
}
