package sqlstore_test

import (
	"strings"
	"testing"

	"landfall"
	"landfall/internal/pgtest"
	"landfall/internal/sqlstore"
)

// The first thing a new service is asked may be refused, and a statement is then planned
// while there is not one account. It is used for all that come in the next minute: were it
// a plan that looks through a whole supplier for each, a book would take hours.
func TestFirstPlansAreGoodForManyAccounts(t *testing.T) {
	store := open(t, pgtest.URL(t))
	ctx := t.Context()
	if err := store.Update(ctx, func(tx landfall.Tx) error { return tx.CreateSupplier(ctx, landfall.NewSupplier("S")) }); err != nil {
		t.Fatal(err)
	}
	for _, one := range sqlstore.KeyedStatements() {
		plan, err := store.Plan(ctx, one.Text, one.Wanted...)
		if err != nil {
			t.Fatal(one.Name, err)
		}
		if told := strings.Join(plan, "\n"); strings.Contains(told, "Index Cond: (supplier_id = s.id)") || !strings.Contains(told, "external = ") {
			t.Errorf("%s looks through a whole supplier:\n%s", one.Name, told)
		}
	}
}
