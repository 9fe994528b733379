package mover

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes the right to import a book. The operating system takes it back
// when the process ends, however it ends. A link is not followed.
func lockFile(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrBusy
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
