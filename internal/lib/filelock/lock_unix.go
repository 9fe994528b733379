//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// OpenFlags is for opening a lock file as it is: a link is not followed, and nobody
// waits for one that is no ordinary file.
const OpenFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// TryLock takes the lock of a file, or says that somebody else has it.
func TryLock(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// TryLockDir is Try for a folder that was opened.
func TryLockDir(folder *os.File) (taken bool, err error) { return TryLock(folder) }
