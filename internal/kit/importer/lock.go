package importer

import (
	"errors"
	"os"

	"landfall/internal/lib/filelock"
)

// lockFile locks a book for importing. The system releases the lock with the process.
func lockFile(folder *os.Root) (*os.File, error) {
	file, err := openOwn(folder, "lock")
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
