//go:build unix

package main

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

// The file that root restored used to belong to root, and the server could not open it.
func TestRestoreGivesTheFileToTheServer(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const server = 12345
	accept := func(context.Context, landfall.Store) error { return nil }
	folder := t.TempDir()
	copied, place := filepath.Join(folder, "copy.db"), filepath.Join(folder, "state", "landfall.db")
	if _, err := sqlstore.Backup(t.Context(), dbtest.SQLite(t), copied, sqlstore.Options{}, accept); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Dir(place), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(filepath.Dir(place), server, server); err != nil {
		t.Fatal(err)
	}
	if err := sqlstore.Restore(t.Context(), "sqlite:"+place, copied, sqlstore.Options{}, accept); err != nil {
		t.Fatal(err)
	}
	// So does a database that root creates.
	created := filepath.Join(filepath.Dir(place), "new.db")
	if _, err := sqlstore.SchemaApply(t.Context(), "sqlite:"+created, sqlstore.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{place, created, created + ".lock"} {
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		if owner := info.Sys().(*syscall.Stat_t); owner.Uid != server || owner.Gid != server {
			t.Errorf("%s belongs to %d:%d", file, owner.Uid, owner.Gid)
		}
	}
}
