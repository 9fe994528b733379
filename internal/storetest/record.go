package storetest

import (
	"reflect"
	"testing"

	"landfall"
)

var records = []check{
	{"events about a process are kept in order", func(t *testing.T, store landfall.Store) {
		given := []landfall.Event{
			{Type: landfall.EventSkipped, Key: key, Details: map[string]string{"reason": "twin “A”"}},
			{Type: landfall.EventUnskipped, Key: key, AccountNumber: "A-12345678"},
		}
		update(t, store, func(tx landfall.Tx) error {
			for _, event := range given {
				if err := tx.AppendEvent(t.Context(), event); err != nil {
					return err
				}
			}
			return tx.AppendEvent(t.Context(), landfall.Event{Type: landfall.EventSupplierStatusChanged, Key: landfall.Key{Supplier: code}})
		})
		look(t, store, func(view landfall.View) error {
			found, err := view.Events(t.Context(), key)
			for at := range found {
				recent(t, found[at].At)
				given[at].At = found[at].At
			}
			if !reflect.DeepEqual(found, given) {
				t.Errorf("got %+v, want %+v", found, given)
			}
			about, err2 := view.Events(t.Context(), landfall.Key{Supplier: code})
			if len(about) != 1 {
				t.Errorf("%d events about the supplier", len(about))
			}
			if err == nil {
				err = err2
			}
			return err
		})
	}},
	{"an event of a failed update is not there", func(t *testing.T, store landfall.Store) {
		want(t, store.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.AppendEvent(t.Context(), landfall.Event{Type: landfall.EventSkipped, Key: key}); err != nil {
				return err
			}
			return errOwn
		}), errOwn)
		look(t, store, func(view landfall.View) error {
			found, err := view.Events(t.Context(), key)
			if len(found) != 0 {
				t.Errorf("got %+v", found)
			}
			return err
		})
	}},
	{"the audit of a subject is kept in order", func(t *testing.T, store landfall.Store) {
		entries := []landfall.AuditEntry{
			{Actor: "operator:ada", Action: "supplier.create", Subject: code, Detail: ""},
			{Actor: "operator:bob", Action: "supplier.set", Subject: code, Detail: "status=Paused"},
		}
		update(t, store, func(tx landfall.Tx) error {
			for _, entry := range append(entries, landfall.AuditEntry{Actor: "x", Action: "y", Subject: "z"}) {
				if err := tx.AppendAudit(t.Context(), entry); err != nil {
					return err
				}
			}
			return nil
		})
		look(t, store, func(view landfall.View) error {
			found, err := view.Audit(t.Context(), code)
			for at := range found {
				recent(t, found[at].At)
				entries[at].At = found[at].At
			}
			if !reflect.DeepEqual(found, entries) {
				t.Errorf("got %+v, want %+v", found, entries)
			}
			return err
		})
	}},
}
