package convert

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"landfall/internal/lib/filelock"
)

// A book is written to a folder next to its final one and renamed when it is complete, so that an
// interrupted conversion is never taken for a book.

// claimFolder creates that folder. A leftover of a killed conversion is removed; a folder in use is
// left alone.
func claimFolder(folder string) (*os.File, error) {
	// An empty folder is accepted: nothing can be lost.
	entries, err := os.ReadDir(folder)
	switch {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("%s already exists; remove it or name another folder", folder)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	part := filepath.Clean(folder) + ".part"
	if err := os.MkdirAll(filepath.Dir(part), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(part, 0o700); errors.Is(err, fs.ErrExist) {
		// Only the lock tells a leftover from a running conversion: the system releases it with the
		// process.
		lock, err := lockFolder(part)
		if err != nil {
			return nil, err
		}
		// Nothing of it can be reused.
		err = os.RemoveAll(part)
		if err = errors.Join(err, lock.Close()); err != nil {
			return nil, err
		}
		// Fails if another process was faster, as it should.
		if err := os.Mkdir(part, 0o700); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return lockFolder(part)
}

// lockFolder locks the folder itself.
func lockFolder(part string) (*os.File, error) {
	file, err := os.Open(part)
	if err != nil {
		return nil, err
	}
	if taken, err := filelock.TryLockDir(file); taken || err != nil {
		return nil, errors.Join(fmt.Errorf("another conversion is running in %s", part), file.Close())
	}
	return file, nil
}

// publishBook renames the complete book.
func publishBook(part, folder string) error {
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one, else it would have been refused
		return err
	}
	if err := os.Rename(part, folder); err != nil {
		return err
	}
	// The new name is durable only after the parent folder is synced.
	above, err := os.Open(filepath.Dir(filepath.Clean(folder)))
	if err != nil {
		return err
	}
	return errors.Join(above.Sync(), above.Close())
}

// writeReport writes the figures next to the book.
func writeReport(path string, result *Result) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
