package storetest

import (
	"reflect"
	"slices"
	"testing"

	"landfall"
)

// supplierChecks have settings that decide about everything else; none may be lost or
// take another's value on its way through the database.
var supplierChecks = []promiseCheck{
	// Every field is set to something other than its default and then back: a setting
	// that was forgotten in one statement shows in one of the two.
	{"a supplier is kept whole", func(t *testing.T, store landfall.Store) {
		given := landfall.Supplier{
			Code: supplierCode, Name: "Acme Énergie", Status: landfall.Paused, DocumentRoot: "acme/2026", Currency: "EUR",
			Region: "FR", TimeZone: "Europe/Paris", SendCustomerEmails: true, VerifyDocuments: true, ConcurrencyLimit: 7,
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
		update(t, store, func(tx landfall.Tx) error { return tx.SaveSupplier(t.Context(), given) })
		compare()
	}},
	// A second creation would set an existing supplier back to the defaults, in the
	// middle of its migration.
	{"a supplier exists once", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		wantError(t, store.Update(t.Context(), func(tx landfall.Tx) error {
			return tx.CreateSupplier(t.Context(), landfall.NewSupplier(supplierCode))
		}), landfall.ErrExists)
	}},
	// Saving must not create: a mistyped code would become a supplier that nobody
	// looks after.
	{"an absent supplier is not found", func(t *testing.T, store landfall.Store) {
		update(t, store, func(tx landfall.Tx) error {
			_, err := tx.Supplier(t.Context(), supplierCode)
			wantError(t, err, landfall.ErrNotFound)
			wantError(t, tx.SaveSupplier(t.Context(), landfall.NewSupplier(supplierCode)), landfall.ErrNotFound)
			return nil
		})
	}},
	// By bytes, as everything that is listed, whatever the language of the database.
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
	// Suppliers compete with each other. Neither that one is there nor anything of it
	// may be learnt by an organisation that has no grant, so both are the same
	// ErrNotFound.
	{"a grant is seen by its organisation alone", func(t *testing.T, store landfall.Store) {
		createSupplier(t, store)
		update(t, store, func(tx landfall.Tx) error {
			for _, name := range []string{organisation, "Other"} {
				if err := tx.CreateOrganisation(t.Context(), name); err != nil {
					return err
				}
			}
			_, err := tx.GrantedSupplier(t.Context(), organisation, supplierCode)
			wantError(t, err, landfall.ErrNotFound)
			// Scripts that set things up are run again when they were interrupted.
			for range 2 { // again is fine
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
	// Whoever takes back a grant that never was has probably mistyped a name, and the
	// one that he meant still has its grant: he must be told.
	{"grants can be taken back and are listed", func(t *testing.T, store landfall.Store) {
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
	// A grant to a name that is given only later would open a supplier to whoever
	// takes it.
	{"nothing is granted to or of nobody", func(t *testing.T, store landfall.Store) {
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
