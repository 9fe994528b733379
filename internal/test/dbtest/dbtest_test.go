package dbtest_test

import (
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// A copy has the schema, and no caller sees what another one writes.
func TestCopiesAreSeparate(t *testing.T) {
	for kind, fresh := range dbtest.Fresh {
		t.Run(kind, func(t *testing.T) {
			for range 2 {
				store, err := sqlstore.Open(t.Context(), fresh(t), sqlstore.Options{}) // without ApplySchema
				if err != nil {
					t.Fatal(err)
				}
				defer store.Close()
				if err := store.Update(t.Context(), func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), "Team") }); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
