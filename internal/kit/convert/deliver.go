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

// A book grows in a folder beside the one it will be, and gets its name when it
// is whole: what was interrupted is never taken for a book.

// claimFolder makes that folder. One that a killed conversion left is removed; one
// that somebody is at work in is left alone.
func claimFolder(folder string) (*os.File, error) {
	// A folder with nothing in it is taken: nothing can be lost there.
	entries, err := os.ReadDir(folder)
	switch {
	case err == nil && len(entries) > 0:
		return nil, fmt.Errorf("%s is there already; remove it or name another folder", folder)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	part := filepath.Clean(folder) + ".part"
	if err := os.MkdirAll(filepath.Dir(part), 0o700); err != nil {
		return nil, err
	}
	if err := os.Mkdir(part, 0o700); errors.Is(err, fs.ErrExist) {
		// Only the lock tells what a killed conversion left from one that is at
		// work: the system lets go of it with the process.
		lock, err := lockFolder(part)
		if err != nil {
			return nil, err
		}
		// Nothing of it is used again, since it does not say how far it got.
		err = os.RemoveAll(part)
		if err = errors.Join(err, lock.Close()); err != nil {
			return nil, err
		}
		// Somebody else may have been quicker to make it anew. Then this fails, as
		// it should.
		if err := os.Mkdir(part, 0o700); err != nil {
			return nil, err
		}
	} else if err != nil {
		return nil, err
	}
	return lockFolder(part)
}

// lockFolder says with the folder's own lock that somebody is at work in it.
func lockFolder(part string) (*os.File, error) {
	file, err := os.Open(part)
	if err != nil {
		return nil, err
	}
	if taken, err := filelock.TryFolder(file); taken || err != nil {
		return nil, errors.Join(fmt.Errorf("another conversion is at work in %s", part), file.Close())
	}
	return file, nil
}

// publishBook gives the whole book its name.
func publishBook(part, folder string) error {
	if err := os.Remove(folder); err != nil && !errors.Is(err, fs.ErrNotExist) { // an empty one, else it would have been refused
		return err
	}
	if err := os.Rename(part, folder); err != nil {
		return err
	}
	// The new name is durable only when the folder above is: a power cut must not
	// take away a book that was reported as made.
	above, err := os.Open(filepath.Dir(filepath.Clean(folder)))
	if err != nil {
		return err
	}
	return errors.Join(above.Sync(), above.Close())
}

// writeReport leaves the figures beside the book.
func writeReport(path string, result *Result) error {
	text, err := json.MarshalIndent(result, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}
