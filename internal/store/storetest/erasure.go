package storetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"landfall"
)

// erase does what an operator does at a person's request.
func erase(t *testing.T, store landfall.Store, key landfall.Key) (erasure landfall.Erasure) {
	t.Helper()
	update(t, store, func(tx landfall.Tx) (err error) {
		erasure, err = tx.Erase(t.Context(), key)
		return err
	})
	return erasure
}

// readAllText returns everything that can be read about a process, as text.
func readAllText(t *testing.T, store landfall.Store, key landfall.Key) string {
	t.Helper()
	var all []any
	inView(t, store, func(view landfall.View) error {
		process, err := view.Process(t.Context(), key)
		if err != nil {
			return err
		}
		revisions, err := view.Revisions(t.Context(), key)
		if err != nil {
			return err
		}
		for i := range revisions {
			all = append(all, string(revisions[i].Document))
		}
		mails, err := view.MailsOf(t.Context(), key)
		if err != nil {
			return err
		}
		account, err := view.Account(t.Context(), key)
		if err != nil && process.State == landfall.Imported {
			return err
		}
		all = append(all, process, revisions, mails, account)
		return nil
	})
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// erasures search for a canary word that was written everywhere. Every new table
// with personal data must erase it too.
var erasures = []promiseCheck{
	// A person may ask for erasure, but the law also requires the books to be
	// kept. The canary is written to the document, the people, the address, a
	// note and a mail, and searched for in everything that can be read. Sums,
	// numbers and states must not change, because totals that were signed off
	// before must still add up afterwards.
	{"an erased account keeps its ledger and no personal data", func(t *testing.T, store landfall.Store) {
		const canary = "Kanarienvogel"
		staged(t, store)
		stage(t, store, newStaging(testKey, canary), landfall.StagedFirst, 1)
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		creation := landfall.Creation{Claim: mine, Account: sampleAccount(), Mails: []landfall.Mail{{Kind: "k", To: canary + "@mail.co.uk"}, {Kind: "k", To: "b"}}}
		data := &creation.Account.Data
		data.BillingName, data.BillingAddress.Lines = canary, []string{canary}
		for i := range data.Customers {
			data.Customers[i].GivenName, data.Customers[i].Email = canary, canary
		}
		data.Notes = append(data.Notes, landfall.Note{Body: canary, HasBody: true})
		made, err := store.Create(t.Context(), creation)
		if err != nil || made.Verdict != landfall.Created {
			t.Fatalf("%+v, %v", made, err)
		}
		figures := func() (found landfall.AccountFigures) {
			inView(t, store, func(view landfall.View) (err error) {
				found, err = view.AccountFigures(t.Context(), testKey)
				return err
			})
			return found
		}
		before := figures()
		// Without this check the case would still pass if the canary were no
		// longer written anywhere.
		if !strings.Contains(readAllText(t, store, testKey), canary) {
			t.Fatal("the case would not detect the fault")
		}
		if erasure := erase(t, store, testKey); erasure.Revisions != 1 || erasure.AccountNumber != made.Number || !erasure.PreviousAt.IsZero() {
			t.Errorf("%+v", erasure)
		}
		if text := readAllText(t, store, testKey); strings.Contains(text, canary) || strings.Contains(text, "Lovelace") || !strings.Contains(text, made.Number) {
			t.Errorf("left over: %s", text)
		}
		wantEqual(t, figures(), before)
		found := readProcess(t, store, testKey)
		recent(t, found.ErasedAt)
		if found.State != landfall.Imported || found.Revision != 1 {
			t.Errorf("%+v", found)
		}
		// The sums are right, and the inspection finds nothing wrong.
		for seen, err := range store.Inspect(t.Context()) {
			if err != nil || seen.Finding != nil {
				t.Errorf("%+v, %v", seen.Finding, err)
			}
		}
		// No mail is sent any more, and the account cannot be undone.
		due, err := store.MailsDue(t.Context())
		if due || err != nil {
			t.Errorf("mails are due: %v, %v", due, err)
		}
		if outcome := undo(t, store, landfall.UndoRequest{Key: testKey}, landfall.UndoKept); outcome.Kept != landfall.KeptErased {
			t.Errorf("%+v", outcome)
		}
		// Data added later is removed by another erasure.
		post(t, store, landfall.Posting{Key: testKey, Decide: func(landfall.AccountState) (landfall.Additions, error) {
			return landfall.Additions{Notes: []landfall.Note{{Body: canary, HasBody: true}}}, nil
		}}, landfall.Posted)
		if again := erase(t, store, testKey); again.PreviousAt.IsZero() || strings.Contains(readAllText(t, store, testKey), canary) {
			t.Errorf("%+v", again)
		}
	}},
	// Suppliers send whole books again, and the person would be back with the
	// next one: the skip mark prevents that. Nothing is erased while the
	// account is being created, since the holder of the claim already has the
	// document and would write it after the erasure.
	{"an account that was never created is erased and cannot be staged again", func(t *testing.T, store landfall.Store) {
		const canary = "Kanarienvogel"
		staged(t, store)
		stage(t, store, newStaging(testKey, canary), landfall.StagedFirst, 1)
		// There are two revisions: erasing only the newest would leave the
		// person in the older one.
		stage(t, store, newStaging(testKey, canary+"2"), landfall.StagedAgain, 2)
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), testKey)
			return err
		})
		wantError(t, err, landfall.ErrExists)
		// The text of a failure may quote the request, so it must be erased as
		// well.
		failed := landfall.Attempt{Failure: &landfall.Failure{Code: "x", Detail: canary}, Event: landfall.Event{Type: landfall.EventImportFailed}}
		if err := store.Release(t.Context(), mine, failed); err != nil {
			t.Fatal(err)
		}
		if erasure := erase(t, store, testKey); erasure.Revisions != 2 || erasure.AccountNumber != "" {
			t.Errorf("%+v", erasure)
		}
		if text := readAllText(t, store, testKey); strings.Contains(text, canary) {
			t.Errorf("left over: %s", text)
		}
		if found := readProcess(t, store, testKey); found.State != landfall.Skipped || found.Revision != 2 {
			t.Errorf("%+v", found)
		}
		outcome, err := store.Stage(t.Context(), newStaging(testKey, canary))
		if err != nil || outcome.Verdict != landfall.RefusedSkipped {
			t.Errorf("%+v, %v", outcome, err)
		}
		for _, revision := range readRevisions(t, store, testKey) {
			recent(t, revision.RemovedAt)
			if revision.Document != nil || revision.StagedAt.IsZero() {
				t.Errorf("%+v", revision)
			}
		}
		if erasure := erase(t, store, testKey); erasure.PreviousAt.IsZero() {
			t.Errorf("%+v", erasure)
		}
	}},
	{"a late reply of the mail server is not stored in an erased account", lateReplyAfterErasure},
	// There is no process that could carry a mark, yet something is known about
	// the person. The second request finds nothing, and that is the answer the
	// person is entitled to.
	{"erasing an account that was only refused deletes the refusal", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		other := landfall.Key{Supplier: supplierCode, External: "other"}
		for _, key := range []landfall.Key{testKey, other} {
			if err := store.Refuse(t.Context(), landfall.Refusal{Key: key, Failure: landfall.Failure{Code: "x", Detail: "Kanarienvogel"}}); err != nil {
				t.Fatal(err)
			}
		}
		if erasure := erase(t, store, testKey); erasure.Revisions != 0 || erasure.AccountNumber != "" {
			t.Errorf("%+v", erasure)
		}
		var left []landfall.Key
		for failed, err := range store.Failed(t.Context(), landfall.FailureQuery{Supplier: supplierCode}) {
			if err != nil {
				t.Fatal(err)
			}
			left = append(left, landfall.Key{Supplier: supplierCode, External: failed.External})
		}
		if len(left) != 1 || left[0] != other {
			t.Errorf("left are %v", left)
		}
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), testKey)
			return err
		})
		wantError(t, err, landfall.ErrNotFound)
	}},
	// A request with a mistyped number must not be answered as if a person had
	// been erased.
	{"an account that was never staged cannot be erased", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		err := store.Update(t.Context(), func(tx landfall.Tx) error {
			_, err := tx.Erase(t.Context(), testKey)
			return err
		})
		wantError(t, err, landfall.ErrNotFound)
	}},
	// Data erased by mistake cannot be restored. The other accounts have the same
	// content, so a statement that matches by content instead of key would erase
	// them too.
	{"erasing one account does not change the others", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		for i := range 3 {
			own := landfall.Key{Supplier: supplierCode, External: fmt.Sprint("E-", i)}
			stage(t, store, newStaging(own, own.External), landfall.StagedFirst, 1)
			mine := claimFor(t, store, claimRequest(own), landfall.ClaimGranted)
			if _, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount()}); err != nil {
				t.Fatal(err)
			}
		}
		other := landfall.Key{Supplier: supplierCode, External: "E-2"}
		before := readAllText(t, store, other)
		erase(t, store, landfall.Key{Supplier: supplierCode, External: "E-1"})
		if readAllText(t, store, other) != before {
			t.Error("another account changed")
		}
	}},
}
