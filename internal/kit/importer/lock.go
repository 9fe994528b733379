package importer

import (
	"errors"
	"os"

	"landfall/internal/lib/filelock"
)

// lockFile takes the right to import a book. The operating system takes it back
// when the process ends, however it ends. A link is not followed.
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
