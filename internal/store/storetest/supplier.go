package storetest

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"landfall"
)

// supplierChecks are about settings that affect everything else. None may be lost
// or mixed up with another on its way through the database.
var supplierChecks = []promiseCheck{
	// Every field is set to something other than its default and then back: a
	// setting that is missing from one statement shows in one of the two.
	{"a supplier is stored with all fields", func(t *testing.T, store landfall.Store) {
		given := landfall.Supplier{
			Code: supplierCode, Name: "Acme Énergie", Status: landfall.Paused, DocumentRoot: "acme/2026", Currency: "EUR",
			Region: "FR", TimeZone: "Europe/Paris", SendCustomerEmails: true, VerifyDocuments: true, ConcurrencyLimit: 7,
			Packs: []string{"gb-energy@1", "own@3"}, MailDelay: 3 * time.Hour, StatementAmounts: landfall.MinorUnits,
			Severities: map[string]landfall.Severity{"some_rule": landfall.SeverityWarning},
		}
		update(t, store, func(tx landfall.Tx) error { return tx.CreateSupplier(t.Context(), given) })
		compare := func() {
			inView(t, store, func(view landfall.View) error {
				found, err := view.Supplier(t.Context(), supplierCode)
				recent(t, found.CreatedAt)
				given.CreatedAt = found.CreatedAt
				if !reflect.DeepEqual(found, given) {
					t.Errorf("got %+v, want %+v", found, given)
				}
				return err
			})
		}
		compare()
		given.Name, given.Status, given.SendCustomerEmails, given.VerifyDocuments = "Acme", landfall.Complete, false, false
		given.DocumentRoot, given.ConcurrencyLimit, given.Severities = "", 0, map[string]landfall.Severity{}
		given.Packs, given.MailDelay, given.StatementAmounts = nil, 0, landfall.MajorUnits
		update(t, store, func(tx landfall.Tx) error { return tx.SaveSupplier(t.Context(), given) })
		compare()
	}},
	// A second creation would reset an existing supplier to the defaults in the
	// middle of its migration.
	{"a supplier code is unique", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		wantError(t, store.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.CreateSupplier(t.Context(), landfall.NewSupplier(supplierCode))
		}), landfall.ErrExists)
	}},
	// Saving must not create: a mistyped code would become a supplier that no one
	// looks after.
	{"an absent supplier is not found", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Supplier(t.Context(), supplierCode)
			wantError(t, err, landfall.ErrNotFound)
			wantError(t, tx.SaveSupplier(t.Context(), landfall.NewSupplier(supplierCode)), landfall.ErrNotFound)
			return nil
		})
	}},
	// Suppliers are sorted by bytes, like everything that is listed, whatever the
	// language of the database.
	{"suppliers are listed by code", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			for _, code := range []string{"b", "C", "a", "_"} {
				if err := tx.CreateSupplier(t.Context(), landfall.NewSupplier(code)); err != nil {
					return err
				}
			}
			return nil
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Suppliers(t.Context())
			var codes []string
			for _, supplier := range found {
				codes = append(codes, supplier.Code)
			}
			if !slices.Equal(codes, []string{"C", "_", "a", "b"}) {
				t.Errorf("got %v", codes)
			}
			return err
		})
	}},
	// Suppliers compete with each other. An organisation without a grant must learn
	// neither that a supplier exists nor anything about it, so both cases return the
	// same ErrNotFound.
	{"a grant is visible only to its organisation", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			for _, name := range []string{organisation, "Other"} {
				if err := tx.CreateOrganisation(t.Context(), name); err != nil {
					return err
				}
			}
			_, err := tx.GrantedSupplier(t.Context(), organisation, supplierCode)
			wantError(t, err, landfall.ErrNotFound)
			// Setup scripts run again when they were interrupted.
			for range 2 { // granting again is fine
				if err := tx.Grant(t.Context(), supplierCode, organisation); err != nil {
					return err
				}
			}
			found, err := tx.GrantedSupplier(t.Context(), organisation, supplierCode)
			if found.Code != supplierCode {
				t.Errorf("got %+v", found)
			}
			_, absent := tx.GrantedSupplier(t.Context(), "Other", supplierCode)
			wantError(t, absent, landfall.ErrNotFound)
			return err
		})
	}},
	// Revoking a grant that does not exist is probably a mistyped name, and the
	// intended organisation still has its grant: the caller must be told.
	{"grants can be removed and are listed", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			for _, name := range []string{"b", "a", "C"} {
				if err := tx.CreateOrganisation(t.Context(), name); err != nil {
					return err
				}
				if err := tx.Grant(t.Context(), supplierCode, name); err != nil {
					return err
				}
			}
			if err := tx.Ungrant(t.Context(), supplierCode, "b"); err != nil {
				return err
			}
			wantError(t, tx.Ungrant(t.Context(), supplierCode, "b"), landfall.ErrNotFound)
			wantError(t, tx.Ungrant(t.Context(), "none", "a"), landfall.ErrNotFound)
			return nil
		})
		inView(t, store, func(view landfall.View) error {
			found, err := view.Grantees(t.Context(), supplierCode)
			if !slices.Equal(found, []string{"C", "a"}) {
				t.Errorf("got %v", found)
			}
			return err
		})
	}},
	// A grant to a name that does not exist yet would open a supplier to whoever
	// takes that name later.
	{"a grant needs a supplier and an organisation", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.Grant(t.Context(), supplierCode, organisation), landfall.ErrNotFound)
			if err := tx.CreateOrganisation(t.Context(), organisation); err != nil {
				return err
			}
			wantError(t, tx.Grant(t.Context(), "none", organisation), landfall.ErrNotFound)
			return nil
		})
	}},
}
