package sqlstore_test

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
)

// TestSchemasOfBothDatabasesAgree compares the two folders, which must have the
// same steps, and the schemas they make: the same tables, columns and indexes.
func TestSchemasOfBothDatabasesAgree(t *testing.T) {
	names := func(folder string) (names []string) {
		paths, err := filepath.Glob(filepath.Join("schema", folder, "*.sql"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		for _, path := range paths {
			names = append(names, filepath.Base(path))
		}
		return names
	}
	if some, others := names("sqlite"), names("postgres"); !slices.Equal(some, others) {
		t.Errorf("steps %v and %v", some, others)
	}
	things := map[string]string{
		"sqlite": `SELECT m.name || '.' || c.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
				WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite%' AND m.name <> 'schema_step'
			UNION ALL SELECT tbl_name || ' has ' || name FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL`,
		"postgres": `SELECT table_name || '.' || column_name FROM information_schema.columns
				WHERE table_schema = 'public' AND table_name <> 'schema_step'
			UNION ALL SELECT i.tablename || ' has ' || i.indexname FROM pg_indexes i
				WHERE i.schemaname = 'public' AND NOT EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conname = i.indexname)`,
	}
	made := map[string][]string{}
	onEach(t, func(t *testing.T, url string) {
		kind := path.Base(t.Name())
		found, err := openStore(t, url).Texts(t.Context(), things[kind])
		if err != nil || len(found) < 100 {
			t.Fatal(found, err)
		}
		slices.Sort(found)
		made[kind] = found
	})
	for _, thing := range made["sqlite"] {
		if !slices.Contains(made["postgres"], thing) {
			t.Errorf("%s only exists on SQLite", thing)
		}
	}
	for _, thing := range made["postgres"] {
		if !slices.Contains(made["sqlite"], thing) {
			t.Errorf("%s only exists on PostgreSQL", thing)
		}
	}
}

func TestSchemaStatus(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		applied := func(steps []sqlstore.SchemaStep, err error) (count int) {
			t.Helper()
			if err != nil || len(steps) == 0 {
				t.Fatal(steps, err)
			}
			for _, step := range steps {
				if step.Applied {
					count++
				}
			}
			return count
		}
		if file, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
			// Reading the status creates no file, and an empty file counts as
			// an empty database.
			if steps, err := sqlstore.SchemaStatus(t.Context(), url, sqlstore.Options{}); err == nil {
				t.Errorf("%v of a database that is not there", steps)
			}
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("reading the status created a file: %v", err)
			}
			if err := os.WriteFile(file, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if count := applied(sqlstore.SchemaStatus(t.Context(), url, sqlstore.Options{})); count != 0 {
			t.Errorf("%d steps in an empty database", count)
		}
		if store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{}); err == nil {
			store.Close()
			t.Error("an empty database was opened without ApplySchema")
		}
		for range 2 {
			steps, err := sqlstore.SchemaApply(t.Context(), url, sqlstore.Options{})
			if count := applied(steps, err); count != len(steps) {
				t.Errorf("%d of %d steps", count, len(steps))
			}
		}
	})
}

// TestLaterStepIsApplied applies a step of a later program to a database with an
// account. The account stays as it was, and this program refuses the database
// from then on.
func TestLaterStepIsApplied(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store, _ := openCreated(t, url)
		before := accountOf(t, store)
		if err := store.Close(); err != nil {
			t.Fatal(err)
		}
		step := "-- +goose Up\nALTER TABLE account ADD COLUMN later TEXT;\nUPDATE account SET later = billing_name;\n"
		later := map[string]string{"sqlite/0002_later.sql": step, "postgres/0002_later.sql": step}
		for range 2 { // the second time there is nothing to do
			steps, err := sqlstore.ApplyLater(t.Context(), url, later)
			if err != nil || len(steps) != 2 || !steps[1].Applied {
				t.Fatalf("got %+v, %v", steps, err)
			}
		}
		if older, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true}); err == nil {
			older.Close()
			t.Error("a newer database was opened")
		}
		if _, err := sqlstore.ApplyLater(t.Context(), url, map[string]string{
			"sqlite/0002_later.sql": step, "postgres/0002_later.sql": step,
			"sqlite/0003_broken.sql":   "-- +goose Up\nALTER TABLE account ADD COLUMN half TEXT;\nUPDATE account SET nothing = 1;\n",
			"postgres/0003_broken.sql": "-- +goose Up\nALTER TABLE account ADD COLUMN half TEXT;\nUPDATE account SET nothing = 1;\n",
		}); err == nil {
			t.Error("a failing step was applied")
		}
		after := openLater(t, url, later)
		if count, err := after.Count(t.Context(), `SELECT count(*) FROM account WHERE later = billing_name`); err != nil || count != 1 {
			t.Errorf("%d accounts were updated, %v", count, err)
		}
		if _, err := after.Count(t.Context(), `SELECT count(half) FROM account`); err == nil {
			t.Error("a failed step left a column behind")
		}
		if got := accountOf(t, after); !reflect.DeepEqual(got, before) {
			t.Errorf("got %+v, want %+v", got, before)
		}
	})
}

// openLater opens a database as a later program does.
func openLater(t *testing.T, url string, later map[string]string) *sqlstore.Store {
	t.Helper()
	store, err := sqlstore.OpenLater(t.Context(), url, later)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func accountOf(t *testing.T, store *sqlstore.Store) (account landfall.Account) {
	t.Helper()
	if err := store.View(t.Context(), func(reader landfall.View) (err error) {
		account, err = reader.Account(t.Context(), testKey)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return account
}

func TestNewerSchemaIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		if err := store.Force(t.Context(), `INSERT INTO schema_step (version_id, is_applied) VALUES (9999, TRUE)`); err != nil {
			t.Fatal(err)
		}
		newer, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true})
		if err == nil {
			newer.Close()
			t.Fatal("the database was opened")
		}
		if !strings.Contains(err.Error(), "9999") {
			t.Errorf("got %v", err)
		}
		if steps, err := sqlstore.SchemaStatus(t.Context(), url, sqlstore.Options{}); err == nil {
			t.Errorf("its status is %v", steps)
		}
	})
}

// TestConcurrentStartsApplySchemaOnce starts replicas, and on SQLite commands,
// on an empty database at the same time.
func TestConcurrentStartsApplySchemaOnce(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		var starters sync.WaitGroup
		for range 5 {
			starters.Go(func() {
				store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true})
				if err != nil {
					t.Error(err)
					return
				}
				if err := store.Ping(t.Context()); err != nil {
					t.Error(err)
				}
				store.Close()
			})
		}
		starters.Wait()
	})
}

func TestWeakDurabilityIsRefused(t *testing.T) {
	for _, setting := range []string{"fsync=off", "full_page_writes=off", "synchronous_commit=off"} {
		t.Run(setting, func(t *testing.T) {
			t.Parallel()
			cluster, err := pgtest.Start(setting)
			if err != nil {
				t.Fatal(err)
			}
			defer cluster.Stop()
			store, err := sqlstore.Open(t.Context(), cluster.URL, sqlstore.Options{ApplySchema: true})
			if err == nil {
				store.Close()
				t.Fatal("the token was used")
			}
			if !strings.Contains(err.Error(), setting) {
				t.Errorf("got %v", err)
			}
			store, err = sqlstore.Open(t.Context(), cluster.URL, sqlstore.Options{ApplySchema: true, AllowWeakDurability: true})
			if err != nil {
				t.Fatalf("with leave: %v", err)
			}
			store.Close()
		})
	}
}
