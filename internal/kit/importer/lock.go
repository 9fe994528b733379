package importer

import (
	"errors"
	"os"

	"landfall/internal/lib/filelock"
)

// lockFile locks a book for importing. The system releases the lock with the process. Links are not
// followed.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|filelock.OpenFlags, 0o600)
	if err != nil {
		return nil, err
	}
	taken, err := filelock.TryLock(file)
	if taken {
		err = ErrBusy
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
