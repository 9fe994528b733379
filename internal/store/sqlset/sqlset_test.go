package sqlset_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"landfall/internal/store/engine"
	"landfall/internal/store/sqlset"
	"landfall/internal/test/pgtest"
)

// steps is the schema that the engine needs, and a table to write to.
var steps = fstest.MapFS{
	"sqlite/0001_schema.sql": {Data: []byte(`-- +goose Up
CREATE TABLE commit_mark (id BLOB PRIMARY KEY, at INTEGER NOT NULL, void INTEGER NOT NULL, step INTEGER NOT NULL) STRICT;
CREATE TABLE item (name TEXT PRIMARY KEY, value INTEGER, note TEXT) STRICT;`)},
	"postgres/0001_schema.sql": {Data: []byte(`-- +goose Up
CREATE TABLE commit_mark (id BYTEA PRIMARY KEY, at BIGINT NOT NULL, void BOOLEAN NOT NULL, step BIGINT NOT NULL);
CREATE TABLE item (name TEXT COLLATE "C" PRIMARY KEY, value BIGINT, note TEXT);`)},
}

// onEach runs a test on both databases.
func onEach(t *testing.T, test func(t *testing.T, db *engine.DB)) {
	for name, url := range map[string]func(*testing.T) string{
		"sqlite":   func(t *testing.T) string { return filepath.Join(t.TempDir(), "item.db") },
		"postgres": func(t *testing.T) string { return pgtest.URL(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed, err := engine.Parse(url(t))
			if err != nil {
				t.Fatal(err)
			}
			db, err := engine.Open(t.Context(), parsed, engine.Options{Steps: steps, ApplySchema: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			test(t, db)
		})
	}
}

// item is a row of the table.
type item struct {
	name  string
	value int64
}

func scanItem(scan sqlset.Scanner, one *item) error { return scan(&one.name, &one.value) }

// readItems returns all rows, sorted by name.
func readItems(t *testing.T, db *engine.DB) (found []item) {
	t.Helper()
	err := db.View(t.Context(), "", func(tx *engine.Tx) (err error) {
		found, err = sqlset.Collect(t.Context(), tx, scanItem, `SELECT name, value FROM item ORDER BY name`)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// update runs an update that must succeed.
func update(t *testing.T, db *engine.DB, fn func(*engine.Tx) error) {
	t.Helper()
	if err := db.Update(t.Context(), "", fn); err != nil {
		t.Fatal(err)
	}
}

// sample returns so many items and their values as rows.
func sample(count int) (items []item, values []any) {
	for i := range count {
		one := item{fmt.Sprintf("%05d", i), int64(i)}
		items, values = append(items, one), append(values, one.name, one.value)
	}
	return items, values
}

var itemTable = sqlset.NewTable("item", "name text", "value bigint")

// TestWriteWritesEveryRow writes sets of all sizes at which the statement
// changes: prepared sizes, arrays and COPY.
func TestWriteWritesEveryRow(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		for _, count := range []int{0, 1, 2, 3, 31, 33, sqlset.MaxBatch, sqlset.MaxBatch + 1, sqlset.MinCopy, 513, 5000} {
			want, values := sample(count)
			update(t, db, func(tx *engine.Tx) error {
				if _, err := tx.Exec(t.Context(), `DELETE FROM item`); err != nil {
					return err
				}
				rows := sqlset.Rows{Table: itemTable, Values: slices.Clone(values)}
				if err := sqlset.Write(t.Context(), tx, &rows); err != nil {
					return err
				}
				if len(rows.Values) != 0 {
					t.Errorf("%d rows: %d values are left", count, len(rows.Values))
				}
				return nil
			})
			if found := readItems(t, db); !slices.Equal(found, want) {
				t.Errorf("wrote %d rows, found %d", count, len(found))
			}
		}
	})
}

// TestExistingRowsAreSkipped writes a row that exists among new ones.
func TestExistingRowsAreSkipped(t *testing.T) {
	table := sqlset.NewTable("item", "name text", "value bigint").SkipExisting("name")
	onEach(t, func(t *testing.T, db *engine.DB) {
		want, values := sample(150)
		for range 2 {
			update(t, db, func(tx *engine.Tx) error {
				return sqlset.Write(t.Context(), tx, &sqlset.Rows{Table: table, Values: slices.Clone(values)})
			})
		}
		if found := readItems(t, db); !slices.Equal(found, want) {
			t.Errorf("found %d rows, want %d", len(found), len(want))
		}
	})
}

// TestChangeThatMissesARowFails changes rows of which one does not exist. The
// whole transaction must fail.
func TestChangeThatMissesARowFails(t *testing.T) {
	errMissed := errors.New("missed")
	change := sqlset.NewChange(`UPDATE item SET value = w.value FROM {rows} WHERE item.name = w.name`, "name text", "value bigint")
	change.Exact = errMissed
	onEach(t, func(t *testing.T, db *engine.DB) {
		want, values := sample(3)
		update(t, db, func(tx *engine.Tx) error {
			return sqlset.Write(t.Context(), tx, &sqlset.Rows{Table: itemTable, Values: slices.Clone(values)})
		})
		for name, fails := range map[string]bool{"00001": false, "missing": true} {
			err := db.Update(t.Context(), "", func(tx *engine.Tx) error {
				return sqlset.Write(t.Context(), tx, &sqlset.Rows{Table: change, Values: []any{"00000", int64(0), name, int64(1)}})
			})
			if errors.Is(err, errMissed) != fails || !fails && err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if found := readItems(t, db); !slices.Equal(found, want) {
			t.Errorf("found %v, want %v", found, want)
		}
	})
}

// TestQueryReturnsRowsInOrder passes rows that are not sorted. On SQLite they are
// padded to the next prepared size.
func TestQueryReturnsRowsInOrder(t *testing.T) {
	query := sqlset.NewQuery(` SELECT w.name, w.value FROM wanted w WHERE w.name IS NOT NULL {in order}`, "name text", "value bigint")
	onEach(t, func(t *testing.T, db *engine.DB) {
		for _, count := range []int{1, 2, 3, 5, sqlset.MaxBatch} {
			want, _ := sample(count)
			slices.Reverse(want)
			var values []any
			for _, one := range want {
				values = append(values, one.name, one.value)
			}
			err := db.View(t.Context(), "", func(tx *engine.Tx) error {
				text, args := query.For(tx, slices.Clone(values))
				found, err := sqlset.Collect(t.Context(), tx, scanItem, text, args...)
				if !slices.Equal(found, want) {
					t.Errorf("got %v, want %v", found, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestListQueryTakesAnyText passes more rows than a Query takes, and texts that
// mean something in JSON, in arrays or in SQL.
func TestListQueryTakesAnyText(t *testing.T) {
	query := sqlset.NewListQuery(`SELECT w.name, w.value FROM {wanted} ORDER BY w.value`, "name text", "value bigint")
	texts := []string{`"`, `\`, `{a,b}`, `NULL`, ``, `'; --`, "\n", "é"}
	onEach(t, func(t *testing.T, db *engine.DB) {
		err := db.View(t.Context(), "", func(tx *engine.Tx) error {
			var values []any
			const count = 500
			for i := range count {
				values = append(values, texts[i%len(texts)], int64(i))
			}
			text, args, err := query.For(tx, values)
			if err != nil {
				return err
			}
			found, err := sqlset.Collect(t.Context(), tx, scanItem, text, args...)
			for i, one := range found {
				if one.name != texts[i%len(texts)] || one.value != int64(i) {
					t.Errorf("row %d is %q, %d", i, one.name, one.value)
				}
			}
			if len(found) != count {
				t.Errorf("%d rows", len(found))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	})
}

// TestUnstorableTextIsRefused passes a NUL, which PostgreSQL refuses and JSON
// would hide on SQLite.
func TestUnstorableTextIsRefused(t *testing.T) {
	query := sqlset.NewListQuery(`SELECT w.name, w.value FROM {wanted}`, "name text", "value bigint")
	onEach(t, func(t *testing.T, db *engine.DB) {
		err := db.View(t.Context(), "", func(tx *engine.Tx) error {
			text, args, err := query.For(tx, []any{"a\x00b", int64(1)})
			if err == nil {
				_, err = sqlset.Collect(t.Context(), tx, scanItem, text, args...)
			}
			return err
		})
		if err == nil {
			t.Error("a text with a NUL was accepted")
		}
	})
}

// TestAmongSelectsTheList selects by a list of numbers, and by an empty one.
func TestAmongSelectsTheList(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		_, values := sample(10)
		update(t, db, func(tx *engine.Tx) error {
			return sqlset.Write(t.Context(), tx, &sqlset.Rows{Table: itemTable, Values: values})
		})
		for _, want := range [][]int64{{}, {3}, {1, 5, 7}} {
			err := db.View(t.Context(), "", func(tx *engine.Tx) error {
				these, list := sqlset.Among(tx, append([]int64{99}, want...))
				found, err := sqlset.Collect(t.Context(), tx, func(scan sqlset.Scanner, one *int64) error { return scan(one) },
					`SELECT value FROM item WHERE value`+these+` ORDER BY value`, list)
				if !slices.Equal(found, want) {
					t.Errorf("got %v, want %v", found, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
	})
}

// TestReadErrorFailsTheTransaction ignores the error of a row that cannot be
// read. The transaction must fail all the same.
func TestReadErrorFailsTheTransaction(t *testing.T) {
	onEach(t, func(t *testing.T, db *engine.DB) {
		_, values := sample(1)
		err := db.Update(t.Context(), "", func(tx *engine.Tx) error {
			if err := sqlset.Write(t.Context(), tx, &sqlset.Rows{Table: itemTable, Values: values}); err != nil {
				return err
			}
			_, err := sqlset.Collect(t.Context(), tx, func(sqlset.Scanner, *int) error { return errors.New("cannot be read") }, `SELECT 1`)
			if err == nil {
				t.Error("the error was not returned")
			}
			return nil
		})
		if found := readItems(t, db); err == nil || len(found) != 0 {
			t.Errorf("got %v, %d items", err, len(found))
		}
	})
}
