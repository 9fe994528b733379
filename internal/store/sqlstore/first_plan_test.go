package sqlstore_test

import (
	"strings"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// TestFirstPlansAreGoodForManyAccounts checks plans that are made while there is
// no account. The first request to a new service may be refused, and its
// statements are then planned on empty tables. Those plans are used for all
// requests of the next minute: if they scanned a whole supplier for each account,
// a book would take hours.
func TestFirstPlansAreGoodForManyAccounts(t *testing.T) {
	store := openStore(t, dbtest.Postgres(t))
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

// TestPlansAreGoodWhileABookIsCreated checks plans made with old statistics. A
// long book is staged, PostgreSQL analyses its tables, and then the accounts are
// created: until the next analysis PostgreSQL believes that no process has a
// number. Queries that find accounts meanwhile must not scan all those that do.
func TestPlansAreGoodWhileABookIsCreated(t *testing.T) {
	store := openStore(t, dbtest.Postgres(t))
	prepareStore(t, store)
	ctx := t.Context()
	for _, text := range []string{
		`INSERT INTO process (supplier_id, external, state, revision, hash, first_staged_at, staged_at)
			SELECT s.id, 'X' || n, 'staged', 1, 'x', n, 1 FROM supplier s, generate_series(1, 20000) n`,
		`INSERT INTO event (type, supplier, external, account_number, at, details)
			SELECT 'account_import.completed', s.code, 'X' || n, 'A-' || n, 1, '{}' FROM supplier s, generate_series(1, 20000) n`,
		`ANALYZE`,
	} {
		if err := store.Force(ctx, text); err != nil {
			t.Fatal(err)
		}
	}
	plans := map[string][]string{}
	for _, one := range sqlstore.KeyedStatements() {
		var err error
		if plans[one.Name], err = store.Plan(ctx, one.Text, one.Wanted...); err != nil {
			t.Fatal(one.Name, err)
		}
	}
	for name, plan := range plans {
		if text := strings.Join(plan, "\n"); strings.Contains(text, "process_imported") || strings.Contains(text, "process_number") ||
			!strings.Contains(text, "process_pkey") && !strings.Contains(text, "external = ") {
			t.Errorf("%s goes through all accounts:\n%s", name, text)
		}
	}
}
