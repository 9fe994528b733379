package storetest

import (
	"testing"

	"landfall"
)

// vendors are configured by operators and used by the suppliers they are granted
// to.
var vendors = []promiseCheck{
	// Payment instructions are verified with this vendor, so nothing may be mixed
	// up. The store sets the creation time, whatever the caller passes.
	{"a vendor is stored, replaced and removed", func(t *testing.T, store landfall.Store) {
		vendor := landfall.Vendor{
			Code: "STRIPE_EU", Adapter: "stripe", BaseURL: "https://x", SecretEnv: "KEY",
			Networks: []string{"10.0.0.0/8"}, Settings: map[string]string{"a": "b"},
		}
		var first landfall.Vendor
		for _, secret := range []string{"KEY", "OTHER"} {
			vendor.SecretEnv = secret
			update(t, store, func(tx landfall.Tx) error { return tx.SaveVendor(t.Context(), vendor) })
			inView(t, store, func(view landfall.View) error {
				found, err := view.Vendor(t.Context(), vendor.Code)
				recent(t, found.CreatedAt)
				if first.Code == "" {
					first = found
				}
				vendor.CreatedAt = first.CreatedAt
				wantEqual(t, found, vendor)
				return err
			})
			// A caller that saves what it has read passes a creation time, here
			// a wrong one.
			vendor.CreatedAt = first.CreatedAt.AddDate(1, 0, 0) // the store decides
		}
		update(t, store, func(tx landfall.Tx) error {
			return tx.SaveVendor(t.Context(), landfall.Vendor{Code: "A", Adapter: "sandbox"})
		})
		inView(t, store, func(view landfall.View) error {
			all, err := view.Vendors(t.Context())
			if len(all) != 2 || all[0].Code != "A" || all[1].Code != vendor.Code {
				t.Errorf("got %+v", all)
			}
			return err
		})
		update(t, store, func(tx landfall.Tx) error {
			wantError(t, tx.RemoveVendor(t.Context(), "none"), landfall.ErrNotFound)
			_, err := tx.Vendor(t.Context(), "none")
			wantError(t, err, landfall.ErrNotFound)
			return tx.RemoveVendor(t.Context(), vendor.Code)
		})
		inView(t, store, func(view landfall.View) error {
			_, err := view.Vendor(t.Context(), vendor.Code)
			wantError(t, err, landfall.ErrNotFound)
			return nil
		})
	}},
	// With the first grant, only suppliers with a grant may use the vendor. The
	// tricky part is the way back: when the last grant is revoked there are as
	// few as at the beginning, and the vendor must not be open to every
	// supplier again.
	{"every supplier may use a vendor until it is granted to one", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		update(t, store, func(tx landfall.Tx) error {
			for _, supplier := range []string{"EAST", "WEST"} {
				if err := tx.CreateSupplier(ctx, landfall.NewSupplier(supplier)); err != nil {
					return err
				}
			}
			return tx.SaveVendor(ctx, landfall.Vendor{Code: "PAY", Adapter: "sandbox"})
		})
		// may checks who can use the vendor, and what is reported about it.
		may := func(everybody bool, suppliers ...string) {
			t.Helper()
			inView(t, store, func(view landfall.View) error {
				var found []string
				// NONE is not a supplier. An open vendor does not check the
				// supplier.
				for _, supplier := range []string{"EAST", "NONE", "WEST"} {
					vendor, err := view.GrantedVendor(ctx, supplier, "PAY")
					if err == nil {
						found = append(found, supplier)
						wantEqual(t, vendor.Code, "PAY")
					} else {
						wantError(t, err, landfall.ErrNotFound)
					}
				}
				if everybody {
					wantEqual(t, found, []string{"EAST", "NONE", "WEST"})
				} else {
					wantEqual(t, found, suppliers)
				}
				grants, err := view.VendorGrants(ctx, "PAY")
				wantEqual(t, grants, landfall.VendorGrants{AllSuppliers: everybody, Suppliers: suppliers})
				return err
			})
		}
		may(true)
		for range 2 {
			update(t, store, func(tx landfall.Tx) error { return tx.GrantVendor(ctx, "PAY", "EAST") })
			may(false, "EAST")
		}
		update(t, store, func(tx landfall.Tx) error { return tx.GrantVendor(ctx, "PAY", "WEST") })
		may(false, "EAST", "WEST")
		// Saving it again is not a grant.
		update(t, store, func(tx landfall.Tx) error {
			if err := tx.UngrantVendor(ctx, "PAY", "EAST"); err != nil {
				return err
			}
			return tx.SaveVendor(ctx, landfall.Vendor{Code: "PAY", Adapter: "sandbox"})
		})
		may(false, "WEST")
		update(t, store, func(tx landfall.Tx) error { return tx.UngrantVendor(ctx, "PAY", "WEST") })
		may(false)
		update(t, store, func(tx landfall.Tx) error { return tx.OpenVendor(ctx, "PAY") })
		may(true)
		for what, refused := range map[string]func(landfall.Tx) error{
			"a grant of no vendor":      func(tx landfall.Tx) error { return tx.GrantVendor(ctx, "NONE", "EAST") },
			"a grant to no supplier":    func(tx landfall.Tx) error { return tx.GrantVendor(ctx, "PAY", "NONE") },
			"taking back what was not":  func(tx landfall.Tx) error { return tx.UngrantVendor(ctx, "PAY", "EAST") },
			"opening no vendor":         func(tx landfall.Tx) error { return tx.OpenVendor(ctx, "NONE") },
			"the grants of no vendor":   func(tx landfall.Tx) error { _, err := tx.VendorGrants(ctx, "NONE"); return err },
			"a vendor that never was":   func(tx landfall.Tx) error { _, err := tx.GrantedVendor(ctx, "EAST", "NONE"); return err },
			"a vendor in other letters": func(tx landfall.Tx) error { _, err := tx.GrantedVendor(ctx, "EAST", "pay"); return err },
		} {
			t.Log(what)
			wantError(t, store.Update(ctx, refused), landfall.ErrNotFound)
		}
		may(true)
		// Removing a vendor removes its grants.
		update(t, store, func(tx landfall.Tx) error { return tx.GrantVendor(ctx, "PAY", "EAST") })
		update(t, store, func(tx landfall.Tx) error { return tx.RemoveVendor(ctx, "PAY") })
		update(t, store, func(tx landfall.Tx) error {
			return tx.SaveVendor(ctx, landfall.Vendor{Code: "PAY", Adapter: "sandbox"})
		})
		may(true)
	}},
	// Some decisions depend on all suppliers, and there is no single row to
	// lock for them.
	{"only one transaction locks the suppliers", func(t *testing.T, store landfall.Store) {
		ctx := t.Context()
		// Each of many callers checks whether it is the first, and creates a
		// supplier only then. Without the lock, several would believe they are
		// the first.
		created := make(chan bool, 8)
		for i := range cap(created) {
			go func() {
				first := false
				err := store.Update(ctx, func(tx landfall.Tx) error {
					if err := tx.LockSuppliers(ctx); err != nil {
						return err
					}
					all, err := tx.Suppliers(ctx)
					if first = err == nil && len(all) == 0; !first {
						return err
					}
					return tx.CreateSupplier(ctx, landfall.NewSupplier(string(rune('A'+i))))
				})
				if err != nil {
					t.Error(err)
				}
				created <- first
			}()
		}
		count := 0
		for range cap(created) {
			if <-created {
				count++
			}
		}
		wantEqual(t, count, 1)
	}},
}
