package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"landfall"
	"landfall/internal/lib/filelock"
	"landfall/internal/store/engine"
)

// ErrNoFile means that a database is not a file, so it cannot be backed up or
// restored by copying.
var ErrNoFile = engine.ErrNoFile

// Backup copies a SQLite database into a new file that only its owner can read.
// A server may keep using the database. The copy contains everything that was
// acknowledged before the backup began. The file appears only when it is
// complete, synced to disk, intact, and accepted by the caller's check; an
// error leaves nothing behind. A copy with an older schema is only checked for
// integrity; unchecked reports that.
func Backup(
	ctx context.Context, url, file string, options Options, check func(context.Context, landfall.Store) error,
) (unchecked bool, err error) {
	name, err := engine.Parse(url)
	if err != nil {
		return false, err
	}
	err = createFile(file, func(partial string) error {
		if err := engine.CopyFile(ctx, name, partial); err != nil {
			return translate(err)
		}
		if err := engine.CheckIntegrity(ctx, partial); err != nil {
			return err
		}
		current, err := isCurrent(ctx, partial, options)
		if err != nil {
			return err
		}
		if !current {
			// This program cannot open it as a store, but a server must not serve it
			// either without a restore.
			unchecked = true
			return engine.ExecFile(ctx, partial, `UPDATE database_identity SET copied_at = ? WHERE id = 1`, time.Now().UnixMicro())
		}
		return withStore(ctx, partial, options, func(store *Store) error {
			if err := check(ctx, store); err != nil {
				return err
			}
			return store.update(ctx, landfall.Key{}, func(t *tx) error { return t.markCopy(ctx) })
		})
	})
	return unchecked, err
}

// Restore copies a backup to the path of a SQLite database that does not exist
// yet. The file appears only when it is complete, has this program's schema,
// and was prepared by the caller, who decides about the keys in it.
func Restore(ctx context.Context, url, file string, options Options, prepare func(context.Context, landfall.Store) error) error {
	name, err := engine.Parse(url)
	if err != nil {
		return err
	}
	place := name.File()
	if place == "" {
		return ErrNoFile
	}
	if hasLog(file) {
		return fmt.Errorf("%s has a -wal file beside it: it is a database in use or a copy by other means, and not all of it is in one file", file)
	}
	// SQLite would take the log of another database for ours.
	if hasLog(place) {
		return fmt.Errorf("%s-wal is left of another database: move it away first", place)
	}
	options.ApplySchema = true
	return createFile(place, func(partial string) error {
		if err := copyFile(file, partial); err != nil {
			return err
		}
		if err := engine.CheckIntegrity(ctx, partial); err != nil {
			return err
		}
		if err := withStore(ctx, partial, options, func(store *Store) error { return prepare(ctx, store) }); err != nil {
			return err
		}
		// The folder belongs to the server, also when root restores.
		return filelock.GiveToOwnerOf(filepath.Dir(place), partial)
	})
}

// hasLog reports whether a database has a write-ahead log. An empty one, which a
// closed database keeps, contains nothing.
func hasLog(file string) bool {
	info, err := os.Lstat(file + "-wal")
	return err == nil && (info.Size() > 0 || !info.Mode().IsRegular())
}

// isCurrent reports whether a file has the schema that this program uses.
func isCurrent(ctx context.Context, file string, options Options) (bool, error) {
	steps, err := SchemaStatus(ctx, "sqlite:"+file, options)
	if err != nil {
		return false, err
	}
	for _, step := range steps {
		if !step.Applied {
			return false, nil
		}
	}
	return true, nil
}

// withStore opens a file that no other process knows about yet, and runs work
// on it.
func withStore(ctx context.Context, file string, options Options, work func(*Store) error) error {
	options.Server = false
	store, err := Open(ctx, "sqlite:"+file, options)
	if err != nil {
		return err
	}
	return errors.Join(work(store), store.Close())
}

// createFile fills a file under a temporary name, syncs it to disk and then links
// it to its own name. It fails if that name exists.
func createFile(file string, fill func(partial string) error) (err error) {
	taken := fmt.Errorf("%s exists already and is not overwritten", file)
	if _, err := os.Lstat(file); err == nil {
		return taken
	}
	made, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*.partial") // with mode 0600
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the folder of %s does not exist; create it first", file)
	}
	if err != nil {
		return err
	}
	partial := made.Name()
	defer func() {
		for _, companion := range []string{"", "-wal", "-shm", "-journal", ".lock"} {
			_ = os.Remove(partial + companion) // a missing file is fine
		}
	}()
	// Close the file before SQLite opens it: closing it later would drop SQLite's
	// locks.
	if err := made.Close(); err != nil {
		return err
	}
	if err := fill(partial); err != nil {
		return err
	}
	if err := syncPath(partial); err != nil {
		return err
	}
	// A link fails if the name is taken; a rename would not.
	switch err := os.Link(partial, file); {
	case errors.Is(err, fs.ErrExist):
		return taken
	case err != nil:
		return err
	}
	return syncPath(filepath.Dir(file))
}

// syncPath syncs a file or a directory to disk.
func syncPath(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// copyFile copies a file over an existing one.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it was only read
	copied, err := os.OpenFile(to, os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	return errors.Join(err, copied.Close())
}
