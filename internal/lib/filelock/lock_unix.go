//go:build unix

package filelock

import (
	"errors"
	"os"
	"syscall"
)

// OpenFlags are flags for opening a lock file: do not follow links, and do not
// block on special files.
const OpenFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// TryLock locks a file. It returns true if another process holds the lock.
func TryLock(file *os.File) (taken bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// TryLockDir is TryLock for an open directory.
func TryLockDir(folder *os.File) (taken bool, err error) { return TryLock(folder) }

// GiveToOwnerOf makes the owner of another file or folder the owner of a file, if this process
// is root. Otherwise a server that runs as another user could not use what root created for it.
func GiveToOwnerOf(path, file string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Lchown(file, int(owner.Uid), int(owner.Gid))
}
