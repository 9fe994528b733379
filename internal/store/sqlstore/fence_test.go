package sqlstore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"landfall"
)

// The step that gives roots to suppliers without one must not put two of them
// into one place.
func TestStepGivesEmptyRootsTheirCode(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, ctx := open(t, url), t.Context()
		given := map[string]string{
			"NORTH": "", "SOUTH": "/", "EAST": "east-files", "WEST": "imports/west",
			"TAKEN": "", "OWNER": "taken", "NESTED": "", "INSIDE": "Nested/old", "twin": "", "TWIN": "", "NOR": "",
		}
		wanted := map[string]string{
			"NORTH": "NORTH", "SOUTH": "SOUTH", "EAST": "east-files", "WEST": "imports/west",
			"TAKEN": "", "OWNER": "taken", "NESTED": "", "INSIDE": "Nested/old", "twin": "", "TWIN": "", "NOR": "NOR",
		}
		err := store.Update(ctx, func(tx landfall.Tx) error {
			for code, root := range given {
				supplier := landfall.NewSupplier(code)
				supplier.DocumentRoot = root
				if err := tx.CreateSupplier(ctx, supplier); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		folder := "sqlite"
		if strings.HasPrefix(url, "postgres") {
			folder = "postgres"
		}
		paths, _ := filepath.Glob("schema/" + folder + "/*_fences.sql")
		text, err := os.ReadFile(paths[0])
		if err != nil {
			t.Fatal(err)
		}
		_, update, found := strings.Cut(string(text), "UPDATE supplier")
		update, _, ended := strings.Cut(update, ";")
		if !found || !ended {
			t.Fatal("the step has no such statement")
		}
		if err := store.Force(ctx, "UPDATE supplier"+update); err != nil {
			t.Fatal(err)
		}
		err = store.View(ctx, func(view landfall.View) error {
			suppliers, err := view.Suppliers(ctx)
			for _, supplier := range suppliers {
				if root := wanted[supplier.Code]; strings.Trim(supplier.DocumentRoot, "/") != root {
					t.Errorf("%s has root %q, want %q", supplier.Code, supplier.DocumentRoot, root)
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}
