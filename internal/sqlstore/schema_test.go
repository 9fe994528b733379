package sqlstore_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"landfall/internal/pgtest"
	"landfall/internal/sqlstore"
)

// TestStepsAgree compares the two folders: the same numbers and names, and the
// same tables with the same columns in the same order.
func TestStepsAgree(t *testing.T) {
	read := func(folder string) (names, columns []string) {
		paths, err := filepath.Glob(filepath.Join("schema", folder, "*.sql"))
		if err != nil || len(paths) == 0 {
			t.Fatal(paths, err)
		}
		table := regexp.MustCompile(`(?m)^(?:CREATE TABLE|ALTER TABLE|DROP TABLE) (\w+)`)
		column := regexp.MustCompile(`(?m)^    ([a-z_]+) `)
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, filepath.Base(path))
			for line := range strings.Lines(string(text)) {
				if found := table.FindStringSubmatch(line); found != nil && !strings.Contains(line, "SET COMPRESSION") {
					columns = append(columns, found[1]+":")
				} else if found := column.FindStringSubmatch(line); found != nil {
					columns = append(columns, found[1])
				}
			}
		}
		return names, columns
	}
	names, columns := read("sqlite")
	otherNames, otherColumns := read("postgres")
	if !slices.Equal(names, otherNames) {
		t.Errorf("steps %v and %v", names, otherNames)
	}
	if !slices.Equal(columns, otherColumns) {
		t.Errorf("columns\n%v\n%v", columns, otherColumns)
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
		if count := applied(sqlstore.SchemaStatus(t.Context(), url, sqlstore.Options{})); count != 0 {
			t.Errorf("%d steps in an empty database", count)
		}
		if store, err := sqlstore.Open(t.Context(), url, sqlstore.Options{}); err == nil {
			store.Close()
			t.Error("an empty database was opened without leave to fill it")
		}
		for range 2 {
			steps, err := sqlstore.SchemaApply(t.Context(), url, sqlstore.Options{})
			if count := applied(steps, err); count != len(steps) {
				t.Errorf("%d of %d steps", count, len(steps))
			}
		}
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		store := open(t, url)
		if err := store.Force(t.Context(), `INSERT INTO schema_step (version_id, is_applied) VALUES (9999, TRUE)`); err != nil {
			t.Fatal(err)
		}
		newer, err := sqlstore.Open(t.Context(), url, sqlstore.Options{ApplySchema: true})
		if err == nil {
			newer.Close()
			t.Fatal("it was opened")
		}
		if !strings.Contains(err.Error(), "9999") {
			t.Errorf("got %v", err)
		}
	})
}

// TestStartersAtOnce has replicas, and on SQLite commands, meet an empty
// database at the same time.
func TestStartersAtOnce(t *testing.T) {
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

func TestForgetfulServerIsRefused(t *testing.T) {
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
				t.Fatal("it was used")
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
