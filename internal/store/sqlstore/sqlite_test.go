package sqlstore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"landfall"
	"landfall/internal/store/sqlstore"
	"landfall/internal/test/dbtest"
)

func TestFilesArePrivate(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new", "folder")
	path := filepath.Join(folder, "landfall.db")
	store, err := sqlstore.Open(t.Context(), path, sqlstore.Options{ApplySchema: true, Server: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	modes := map[string]fs.FileMode{folder: 0o700, path: 0o600, path + "-wal": 0o600, path + "-shm": 0o600, path + ".lock": 0o600}
	for name, want := range modes {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
}

func TestSecondServerIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "landfall.db")
	serve := sqlstore.Options{ApplySchema: true, Server: true}
	first, err := sqlstore.Open(t.Context(), path, serve)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = sqlstore.Open(t.Context(), path, serve); err == nil || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("got %v, want the holder's number", err)
	}
	command, err := sqlstore.Open(t.Context(), path, sqlstore.Options{})
	if err != nil {
		t.Fatalf("a command beside the server: %v", err)
	}
	if err := errors.Join(command.Ping(t.Context()), command.Close(), first.Close()); err != nil {
		t.Fatal(err)
	}
	next, err := sqlstore.Open(t.Context(), path, serve)
	if err != nil {
		t.Fatalf("after the first has ended: %v", err)
	}
	next.Close()
}

// TestBusyFileIsUnavailable lets a second store, in the role of another process,
// lock the file for longer than callers wait.
func TestBusyFileIsUnavailable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "landfall.db")
	options := sqlstore.Options{ApplySchema: true, LockTimeout: 50 * time.Millisecond}
	store, err := sqlstore.Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	other, err := sqlstore.Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	err = other.Update(t.Context(), func(tx landfall.Tx) error {
		if err := tx.CreateTeam(t.Context(), "Slow"); err != nil {
			return err
		}
		if err := store.Ping(t.Context()); !errors.Is(err, landfall.ErrUnavailable) {
			t.Errorf("got %v", err)
		}
		return store.View(t.Context(), func(reader landfall.View) error {
			_, err := reader.Teams(t.Context()) // reading still works
			return err
		})
	})
	if err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(30 * time.Second); ; { // on a busy machine one ping may take longer than LockTimeout
		err := store.Ping(t.Context())
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("afterwards: %v", err)
		}
	}
}

func TestUnreadableFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "landfall.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if store, err := sqlstore.Open(t.Context(), path, sqlstore.Options{ApplySchema: true}); err == nil {
		store.Close()
		t.Error("the database was opened")
	}
}

// TestForeignFileKeepsItsMode checks that a mistyped name such as /etc/passwd
// does not make that file inaccessible to others.
func TestForeignFileKeepsItsMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "passwd")
	if err := os.WriteFile(path, []byte("root:x:0:0:root:/root:/bin/bash\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if store, err := sqlstore.Open(t.Context(), path, sqlstore.Options{ApplySchema: true}); err == nil {
		store.Close()
		t.Error("the database was opened")
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o644 {
		t.Errorf("its mode is %v now, %v", info.Mode(), err)
	}
}

// TestRestartFreesClaims checks that a server frees the claims it finds at its
// start. It is the only server of the file, so those claims have no holder.
func TestRestartFreesClaims(t *testing.T) {
	path := dbtest.SQLite(t)
	serve := sqlstore.Options{ApplySchema: true, Server: true}
	first, err := sqlstore.Open(t.Context(), path, serve)
	if err != nil {
		t.Fatal(err)
	}
	prepareStore(t, first, "1")
	claimNumber(t, first, "1")
	// A command that runs at the same time frees nothing.
	if err := openStore(t, path).Close(); err != nil {
		t.Fatal(err)
	}
	if outcome, err := first.Claim(t.Context(), claimRequest("1")); err != nil || outcome.Verdict != landfall.ClaimTaken {
		t.Fatalf("got %+v, %v", outcome, err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second, err := sqlstore.Open(t.Context(), path, serve)
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	claimNumber(t, second, "1")
}
