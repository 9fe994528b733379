package sqlstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
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
	some := names("sqlite")
	if others := names("postgres"); !slices.Equal(some, others) {
		t.Errorf("steps %v and %v", some, others)
	}
	for i, name := range some[1:] {
		for kind, fence := range fences(i + 2) {
			if text, err := os.ReadFile(filepath.Join("schema", kind, name)); err != nil || !strings.Contains(string(text), fence) {
				t.Errorf("%s/%s must begin with %s, so that older programs cannot write any more (%v)", kind, name, fence, err)
			}
		}
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
	onEmpty(t, func(t *testing.T, url string) {
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

// fences returns the statements with which a step begins, by the kind of database.
func fences(step int) map[string]string {
	return map[string]string{
		"postgres": fmt.Sprintf("ALTER TABLE commit_mark DROP CONSTRAINT commit_mark_step, "+
			"ADD CONSTRAINT commit_mark_step CHECK (step >= %d) NOT VALID;\n", step),
		"sqlite": fmt.Sprintf("DROP TRIGGER commit_mark_step;\n-- +goose StatementBegin\n"+
			"CREATE TRIGGER commit_mark_step BEFORE INSERT ON commit_mark WHEN NEW.step < %d\n"+
			"BEGIN SELECT RAISE(ABORT, 'the schema is newer than this program'); END;\n-- +goose StatementEnd\n", step),
	}
}

// laterStep returns step 2 of a later program, which does something for both databases.
func laterStep(does string) map[string]string {
	step := map[string]string{}
	for kind, fence := range fences(2) {
		step[kind+"/0002_later.sql"] = "-- +goose Up\n" + fence + does
	}
	return step
}

// TestOlderProgramsCannotWriteAfterAStep applies a step while a program that does not
// know it has a transaction open. Neither that transaction nor a later one commits.
func TestOlderProgramsCannotWriteAfterAStep(t *testing.T) {
	onEmpty(t, func(t *testing.T, url string) {
		older, _ := openCreated(t, url)
		later := laterStep("ALTER TABLE account ADD COLUMN later TEXT;\n")
		inside, applied := make(chan struct{}), make(chan error, 1)
		go func() {
			<-inside
			_, err := sqlstore.ApplyLater(t.Context(), url, later)
			applied <- err
		}()
		tries := 0
		err := older.Update(t.Context(), func(tx landfall.Tx) error {
			if err := tx.CreateTeam(t.Context(), "Late"); err != nil {
				return err
			}
			if tries++; tries == 1 {
				close(inside)
				// On PostgreSQL the step is not held up by this transaction, which has not
				// inserted its mark yet. On SQLite it waits for the only writer.
				if strings.HasPrefix(url, "postgres") {
					applied <- <-applied
				}
			}
			return nil
		})
		if postgres := strings.HasPrefix(url, "postgres"); postgres != errors.Is(err, landfall.ErrUnavailable) {
			t.Errorf("the open transaction ended with %v", err)
		}
		if err := <-applied; err != nil {
			t.Fatal(err)
		}
		err = older.Update(t.Context(), func(tx landfall.Tx) error { return tx.CreateTeam(t.Context(), "Later") })
		if !errors.Is(err, landfall.ErrUnavailable) || !strings.Contains(err.Error(), "too old to write") {
			t.Errorf("an older program got %v", err)
		}
		if err := older.Ping(t.Context()); err == nil {
			t.Error("an older program is ready")
		}
		newer := openLater(t, url, later)
		if err := newer.Ping(t.Context()); err != nil {
			t.Error(err)
		}
		want := map[bool]int{true: 0, false: 1}[strings.HasPrefix(url, "postgres")]
		if count, err := newer.Count(t.Context(), `SELECT count(*) FROM team WHERE name LIKE 'Late%'`); err != nil || count != want {
			t.Errorf("%d teams were written, want %d, %v", count, want, err)
		}
	})
}

// TestSchemaWaitsForOlderServers refuses a step while a server is running, and applies
// it once the server has stopped. A file has a lock for that.
func TestSchemaWaitsForOlderServers(t *testing.T) {
	onEmpty(t, func(t *testing.T, url string) {
		store := openStore(t, url)
		alive := func(work func(landfall.Tx) error) {
			t.Helper()
			if err := store.Update(t.Context(), work); err != nil {
				t.Fatal(err)
			}
		}
		alive(func(tx landfall.Tx) error {
			return tx.TouchReplica(t.Context(), landfall.Replica{ID: "r", Host: "old-host", Version: "1.0.0"})
		})
		later := laterStep("ALTER TABLE account ADD COLUMN later TEXT;\n")
		if strings.HasPrefix(url, "postgres") {
			_, err := sqlstore.ApplyLater(t.Context(), url, later)
			if !errors.Is(err, landfall.ErrUnavailable) || !strings.Contains(err.Error(), "old-host (version 1.0.0)") {
				t.Fatalf("a running server was ignored: %v", err)
			}
			alive(func(tx landfall.Tx) error { return tx.RemoveReplica(t.Context(), "r") })
		}
		if _, err := sqlstore.ApplyLater(t.Context(), url, later); err != nil {
			t.Error(err)
		}
	})
}

// TestStepsAreRetriedAfterADeadlock lets a step run into a deadlock with another
// transaction once.
func TestStepsAreRetriedAfterADeadlock(t *testing.T) {
	url := dbtest.Postgres(t)
	older, _ := openCreated(t, url)
	later := laterStep("ALTER TABLE account ADD COLUMN later TEXT;\n")
	applied := make(chan error, 1)
	tries := 0
	err := older.ForceWhile(t.Context(), func() error {
		if tries++; tries > 1 {
			return nil
		}
		go func() {
			_, err := sqlstore.ApplyLater(t.Context(), url, later)
			applied <- err
		}()
		// The step holds commit_mark and waits for account, which this transaction holds.
		for {
			waiting, err := older.Count(t.Context(), `SELECT count(*) FROM pg_locks l JOIN pg_class c ON c.oid = l.relation
				JOIN pg_database d ON d.oid = l.database
				WHERE d.datname = current_database() AND c.relname = 'account' AND NOT l.granted`)
			if err != nil || waiting > 0 {
				return err
			}
			time.Sleep(10 * time.Millisecond)
		}
	}, `SET LOCAL lock_timeout = 0`, `UPDATE account SET currency = currency`) // the step waits for longer, so it loses
	if err != nil {
		t.Error(err)
	}
	if err := <-applied; err != nil {
		t.Error(err)
	}
}

func TestSchemaStatus(t *testing.T) {
	onEmpty(t, func(t *testing.T, url string) {
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
	onEmpty(t, func(t *testing.T, url string) {
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
	onEmpty(t, func(t *testing.T, url string) {
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
	onEmpty(t, func(t *testing.T, url string) {
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
