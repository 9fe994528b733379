package storetest

import (
	"reflect"
	"testing"

	"landfall"
)

// author enrols a key and returns the author that writes with it.
func author(t *testing.T, store landfall.Store) landfall.Author {
	t.Helper()
	update(t, store, func(tx landfall.Tx) error {
		if err := tx.CreateOrganisation(t.Context(), organisation); err != nil {
			return err
		}
		return tx.CreateKey(t.Context(), landfall.APIKey{ID: "k1", Organisation: organisation, Role: landfall.RoleImporter})
	})
	return landfall.Author{Organisation: organisation, KeyID: "k1", RequestID: "r1"}
}

// records are about who wrote each row, with which key and in which request, for
// as long as the row exists.
var records = []promiseCheck{
	// When data is wrong, the first question is who sent it and with which request.
	// Each step has its own request, so that an author taken from another step
	// shows.
	{"everything written through the API has an author", func(t *testing.T, store landfall.Store) {
		staged(t, store)
		by := author(t, store)
		staging := newStaging(testKey, "x")
		staging.By = by
		stage(t, store, staging, landfall.StagedFirst, 1)
		if found := readRevisions(t, store, testKey); found[0].By != by {
			t.Errorf("the revision is by %+v", found[0].By)
		}
		mine := claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		by.RequestID = "r2"
		attempt := landfall.Attempt{Failure: &landfall.Failure{Code: "x"}, Event: landfall.Event{Type: landfall.EventImportFailed}, By: by}
		if err := store.Release(t.Context(), mine, attempt); err != nil {
			t.Fatal(err)
		}
		mine = claimFor(t, store, claimRequest(testKey), landfall.ClaimGranted)
		by.RequestID = "r3"
		if _, err := store.Create(t.Context(), landfall.Creation{Claim: mine, Account: sampleAccount(), By: by}); err != nil {
			t.Fatal(err)
		}
		by.RequestID = "r4"
		post(t, store, landfall.Posting{Key: testKey, By: by, Decide: func(landfall.AccountState) (landfall.Additions, error) {
			return landfall.Additions{Notes: []landfall.Note{{Body: "n", HasBody: true}}, Event: &landfall.Event{Type: landfall.EventNotesCreated}}, nil
		}}, landfall.Posted)
		for i, event := range readEvents(t, store, testKey) {
			by.RequestID = []string{"r2", "r3", "r4"}[i]
			if event.By != by {
				t.Errorf("%s is by %+v", event.Type, event.By)
			}
		}
	}},
	// Operators revoke unused keys. Recording every request would cost a write each,
	// so a minute is precise enough.
	{"keys show when they were used", func(t *testing.T, store landfall.Store) {
		author(t, store)
		update(t, store, func(tx landfall.Tx) error { return tx.MarkKeysUsed(t.Context(), "none", "k1") })
		var first landfall.APIKey
		inView(t, store, func(view landfall.View) (err error) {
			first, err = view.Key(t.Context(), "k1")
			return err
		})
		recent(t, first.UsedAt)
		update(t, store, func(tx landfall.Tx) error { return tx.MarkKeysUsed(t.Context(), "k1") })
		inView(t, store, func(view landfall.View) error {
			again, err := view.Key(t.Context(), "k1")
			if !again.UsedAt.Equal(first.UsedAt) {
				t.Error("it was recorded twice within a minute")
			}
			return err
		})
	}},

	// An event about the supplier has no account in its key and must not appear
	// among the events of an account.
	{"events of a process are stored in order", func(t *testing.T, store landfall.Store) {
		given := []landfall.Event{
			{Type: landfall.EventSkipped, Key: testKey, Details: map[string]string{"reason": "twin “A”"}},
			{Type: landfall.EventUnskipped, Key: testKey, AccountNumber: "A-12345678"},
		}
		update(t, store, func(tx landfall.Tx) error {
			for _, event := range given {
				if err := tx.AppendEvent(t.Context(), event); err != nil {
					return err
				}
			}
			return tx.AppendEvent(t.Context(), landfall.Event{Type: landfall.EventSupplierStatusChanged, Key: landfall.Key{Supplier: supplierCode}})
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Events(t.Context(), testKey)
			for at := range found {
				recent(t, found[at].At)
				given[at].At = found[at].At
			}
			if !reflect.DeepEqual(found, given) {
				t.Errorf("got %+v, want %+v", found, given)
			}
			about, err2 := view.Events(t.Context(), landfall.Key{Supplier: supplierCode})
			if len(about) != 1 {
				t.Errorf("%d events about the supplier", len(about))
			}
			if err == nil {
				err = err2
			}
			return err
		})
	}},
	// Receivers act on events, and would act on something that never happened.
	{"an event of a failed update is not stored", func(t *testing.T, store landfall.Store) {
		wantError(t, store.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.AppendEvent(t.Context(), landfall.Event{Type: landfall.EventSkipped, Key: testKey}); err != nil {
				return err
			}
			return errOwn
		}), errOwn)
		inView(t, store, func(view landfall.View) error {
			found, err := view.Events(t.Context(), testKey)
			if len(found) != 0 {
				t.Errorf("got %+v", found)
			}
			return err
		})
	}},
	// Read in another order, two acts can mean the opposite.
	{"the audit of a subject is in order", func(t *testing.T, store landfall.Store) {
		entries := []landfall.AuditEntry{
			{Actor: "operator:ada", Action: "supplier.create", Subject: supplierCode, Detail: ""},
			{Actor: "operator:bob", Action: "supplier.set", Subject: supplierCode, Detail: "status=Paused"},
		}
		update(t, store, func(tx landfall.Tx) error {
			for _, entry := range append(entries, landfall.AuditEntry{Actor: "x", Action: "y", Subject: "z"}) {
				if err := tx.AppendAudit(t.Context(), entry); err != nil {
					return err
				}
			}
			return nil
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Audit(t.Context(), supplierCode)
			for at := range found {
				recent(t, found[at].At)
				entries[at].At, entries[at].ID = found[at].At, found[at].ID
			}
			if !reflect.DeepEqual(found, entries) {
				t.Errorf("got %+v, want %+v", found, entries)
			}
			return err
		})
	}},
}
