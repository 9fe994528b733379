package operate_test

import (
	"fmt"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/service/operate"
)

func rootChange(text string) operate.SupplierChange {
	return operate.SupplierChange{DocumentRoot: &text}
}

// A supplier without its own root could once reach every other supplier's
// documents.
func TestDocumentRootsAreApart(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		made, err := d.CreateSupplier(ctx, "NORTH", operate.SupplierChange{})
		must(t, err)
		same(t, "the default root", made.DocumentRoot, "NORTH")
		must(t, second(d.CreateSupplier(ctx, "SOUTH", rootChange("imports/south/"))))
		for _, empty := range []string{"", "/", "//"} {
			refusal(t, "an empty root", second(d.CreateSupplier(ctx, "EAST", rootChange(empty))), landfall.CodeValidationFailed, "its own document root")
			refusal(t, "an emptied root", second(d.SetSupplier(ctx, "NORTH", rootChange(empty))), landfall.CodeValidationFailed, "its own document root")
		}
		for taken, words := range map[string]string{
			"NORTH": "is the same as that of", "/NORTH/": "is the same as that of", "north": "is the same as that of", "imports/south": "is the same as that of",
			"NORTH/2026": "is inside", "imports/South/old": "is inside", "imports": "contains that of", "/imports/": "contains that of",
		} {
			refusal(t, "root "+taken, second(d.CreateSupplier(ctx, "EAST", rootChange(taken))), landfall.CodeValidationFailed, words, "--document-root")
		}
		// The code is the default root, and is compared like any other.
		refusal(t, "a code in other letters", second(d.CreateSupplier(ctx, "North", operate.SupplierChange{})), landfall.CodeValidationFailed, "NORTH")
		must(t, second(d.CreateSupplier(ctx, "North", rootChange("north-2"))), second(d.CreateSupplier(ctx, "NORTH-EVIL", operate.SupplierChange{})))
		must(t, second(d.SetSupplier(ctx, "NORTH", rootChange("NORTH/deeper"))), second(d.SetSupplier(ctx, "NORTH", rootChange("NORTH"))))
		refusal(t, "a set root", second(d.SetSupplier(ctx, "SOUTH", rootChange("NORTH/x"))), landfall.CodeValidationFailed, "is inside")
	})
}

// Roots that were accepted earlier and would be refused today are reported, but
// do not prevent pausing a supplier.
func TestOldDocumentRootsAreReported(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		ctx := t.Context()
		must(t, d.store.Update(ctx, func(tx landfall.Tx) error {
			for code, root := range map[string]string{"A": "shared", "B": "shared/b", "C": "/Shared/", "D": "", "E": "/", "F": "fine"} {
				supplier := landfall.NewSupplier(code)
				supplier.DocumentRoot = root
				if err := tx.CreateSupplier(ctx, supplier); err != nil {
					return err
				}
			}
			return nil
		}))
		suppliers, err := d.Suppliers(ctx)
		must(t, err)
		troubles := operate.RootProblems(suppliers)
		same(t, "how many troubles", len(troubles), 5) // A-B, A-C, B-C, D, E
		must(t, second(d.SetSupplier(ctx, "B", operate.SupplierChange{Status: new(landfall.Paused)})),
			second(d.SetSupplier(ctx, "D", operate.SupplierChange{Status: new(landfall.Paused)})))
		must(t, second(d.SetSupplier(ctx, "D", rootChange("d"))))
	})
}

// When several suppliers with overlapping roots are created concurrently,
// exactly one of them succeeds.
func TestTwoSuppliersCannotTakeOneRootAtOnce(t *testing.T) {
	each(t, func(t *testing.T, d fixture) {
		var crowd sync.WaitGroup
		results := make([]error, 6)
		for i := range results {
			crowd.Go(func() {
				_, results[i] = d.CreateSupplier(t.Context(), fmt.Sprintf("S%d", i), rootChange("shared"+[]string{"", "/x"}[i%2]))
			})
		}
		crowd.Wait()
		suppliers, err := d.Suppliers(t.Context())
		must(t, err)
		if troubles := operate.RootProblems(suppliers); len(troubles) > 0 {
			t.Errorf("%d suppliers: %v (%v)", len(suppliers), troubles, results)
		}
		if len(suppliers) == 0 {
			t.Errorf("no change succeeded: %v", results)
		}
	})
}
