// Package dbtest gives tests fresh databases that already have the schema.
// It applies the schema once per process and kind of database and copies the
// result for each caller, which takes a fraction of the time.
// Only test files import it.
package dbtest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"landfall/internal/store/sqlstore"
	"landfall/internal/test/pgtest"
)

// Fresh returns the URL of a fresh database, by kind.
var Fresh = map[string]func(testing.TB) string{
	"sqlite":   SQLite,
	"postgres": Postgres,
}

// Each runs a test on a fresh database of each kind.
func Each(t *testing.T, test func(t *testing.T, url string)) {
	t.Helper()
	for kind, fresh := range Fresh {
		t.Run(kind, func(t *testing.T) { test(t, fresh(t)) })
	}
}

// SQLite returns the URL of a fresh SQLite file, removed when the test ends.
func SQLite(t testing.TB) string {
	t.Helper()
	content, err := sqliteContent()
	if err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	file := filepath.Join(t.TempDir(), "landfall.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatalf("dbtest: %v", err)
	}
	return "sqlite:" + file
}

// sqliteContent returns the bytes of a SQLite file that has the schema. Closing
// the last connection moves the write-ahead log into the file, so the file is
// the whole database.
var sqliteContent = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "dbtest")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "landfall.db")
	if err := applySchema("sqlite:" + file); err != nil {
		return nil, err
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return nil, fmt.Errorf("closing %s left a write-ahead log", file)
	}
	return os.ReadFile(file)
})

var postgres struct {
	prepare  sync.Once
	template string
	err      error
}

// Postgres returns the URL of a fresh PostgreSQL database, dropped when the
// test ends.
func Postgres(t testing.TB) string {
	t.Helper()
	postgres.prepare.Do(func() {
		postgres.template = pgtest.Template(t)
		postgres.err = applySchema(postgres.template)
	})
	if postgres.err != nil {
		t.Fatalf("dbtest: %v", postgres.err)
	}
	return pgtest.Clone(t, postgres.template)
}

func applySchema(url string) error {
	_, err := sqlstore.SchemaApply(context.Background(), url, sqlstore.Options{})
	return err
}
