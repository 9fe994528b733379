package storetest

import (
	"testing"

	"landfall"
)

// createFrom stages an account with a delivery and creates it.
func createFrom(t *testing.T, store landfall.Store, external, delivery string) (landfall.Key, landfall.CreateOutcome) {
	t.Helper()
	key := landfall.Key{Supplier: supplierCode, External: external}
	staging := newStaging(key, external)
	staging.By.Delivery = delivery
	stage(t, store, staging, landfall.StagedFirst, 1)
	return key, create(t, store, claimFor(t, store, claimRequest(key), landfall.ClaimGranted), sampleAccount())
}

// postFrom adds something to an account with a delivery.
func postFrom(t *testing.T, store landfall.Store, key landfall.Key, delivery, what string) {
	t.Helper()
	post(t, store, landfall.Posting{Key: key, By: landfall.Author{Delivery: delivery}, Decide: func(books landfall.AccountState) (landfall.Additions, error) {
		return additions[what](books), nil
	}}, landfall.Posted)
}

// undoDelivery posts every kind with the delivery that staged an account, and from
// elsewhere.
func undoDelivery(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	own, made := createFrom(t, store, "own", "book-1")
	for what := range additions {
		postFrom(t, store, own, "book-1", what)
	}
	undo(t, store, landfall.UndoRequest{Key: own}, landfall.Undone)
	wantGone(t, store, own, made.Number)
	// The second account has nothing of what was added to the first.
	create(t, store, claimFor(t, store, claimRequest(own), landfall.ClaimGranted), sampleAccount())
	wantEqual(t, len(readAccount(t, store, own).Ledger), len(sampleAccount().Ledger))
	undo(t, store, landfall.UndoRequest{Key: own}, landfall.Undone)
	for name, from := range map[string]struct{ staged, posted string }{
		"another delivery": {"book-1", "book-2"}, "no delivery": {"book-1", ""}, "neither named one": {"", ""}, "only the posting named one": {"", "book-1"},
	} {
		for what := range additions {
			key, _ := createFrom(t, store, name+" "+what, from.staged)
			if from.staged != "" {
				postFrom(t, store, key, from.staged, "a note")
			}
			postFrom(t, store, key, from.posted, what)
			before := readAccount(t, store, key)
			if outcome := undo(t, store, landfall.UndoRequest{Key: key}, landfall.UndoKept); outcome.Kept != landfall.KeptHasPostings {
				t.Errorf("%s, %s: outcome %+v", name, what, outcome)
			}
			wantEqual(t, readAccount(t, store, key), before)
		}
	}
	// An account that exists does not change its delivery when it is sent again.
	key, _ := createFrom(t, store, "sent again", "book-1")
	postFrom(t, store, key, "book-1", "a note")
	again := newStaging(key, "sent again")
	again.By.Delivery = "book-2"
	stage(t, store, again, landfall.RefusedImported, 1)
	undo(t, store, landfall.UndoRequest{Key: key}, landfall.Undone)
}

// undoAllPostings saves the postings of an account and undoes it.
func undoAllPostings(t *testing.T, store landfall.Store) {
	createSupplier(t, store)
	update(t, store, func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), teamName) })
	key, made := createFrom(t, store, "A-1", "book-1")
	read := func() (account landfall.PostedAccount, items []landfall.PostedItem) {
		inView(t, store, func(view landfall.View) (err error) {
			account, err = view.Postings(t.Context(), key, func(item landfall.PostedItem) error {
				items = append(items, item)
				return nil
			})
			return err
		})
		return account, items
	}
	account, items := read()
	wantEqual(t, account, landfall.PostedAccount{Key: key, CreatedAt: made.At})
	wantEqual(t, len(items), 0)
	postFrom(t, store, key, "book-1", "a note")
	postFrom(t, store, key, "", "a transaction")
	postFrom(t, store, key, "book-2", "a statement")
	postFrom(t, store, key, "", "a payment instruction")
	// The service's own notes are written again with the transactions.
	post(t, store, landfall.Posting{Key: key, Decide: func(landfall.AccountState) (landfall.Additions, error) {
		return landfall.Additions{Notes: []landfall.Note{{Body: "sent", HasBody: true}, {Body: "own", HasBody: true}}, OwnNotes: 1}, nil
	}}, landfall.Posted)
	account, items = read()
	wantEqual(t, account, landfall.PostedAccount{Key: key, CreatedAt: made.At, Postings: 5})
	var found []string
	for _, item := range items {
		switch item.Kind {
		case landfall.PostingNotes:
			found = append(found, "note "+item.Note.Body+" "+item.Delivery)
		case landfall.PostingTransactions:
			found = append(found, "transaction "+item.Transaction.ID+" "+item.Transaction.Amount.String())
		case landfall.PostingStatements:
			found = append(found, "statement "+item.Statement.ID+" "+item.Delivery)
		case landfall.PostingInstruction:
			found = append(found, "instruction "+item.Instruction.Reference)
		}
	}
	wantEqual(t, found, []string{"note late book-1", "note sent ", "transaction late 0.001", "statement late book-2", "instruction late"})
	undo(t, store, landfall.UndoRequest{Key: key}, landfall.UndoKept)
	undo(t, store, landfall.UndoRequest{Key: key, AllPostings: true, Saved: 4}, landfall.UndoUnsaved)
	readAccount(t, store, key)
	undo(t, store, landfall.UndoRequest{Key: key, AllPostings: true, Saved: 5}, landfall.Undone)
	wantGone(t, store, key, made.Number)
	err := store.View(t.Context(), func(view landfall.View) error {
		_, err := view.Postings(t.Context(), key, func(landfall.PostedItem) error { return nil })
		return err
	})
	wantError(t, err, landfall.ErrNotFound)
}
