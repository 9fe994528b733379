package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// OpenFlags is empty on Windows, where links are rare and need privileges.
const OpenFlags = 0

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	exclusiveNoWait = 1 | 2 // LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
	errorLocked     = syscall.Errno(33)
	lockOffset      = 0x7fffffff
)

// TryLock locks a file. It returns true if another process holds the lock. It
// locks a byte far beyond the end, so that the file can still be read.
func TryLock(file *os.File) (taken bool, err error) {
	where := syscall.Overlapped{OffsetHigh: lockOffset}
	done, _, trouble := lockFileEx.Call(file.Fd(), exclusiveNoWait, 0, 1, 0, uintptr(unsafe.Pointer(&where)))
	if done != 0 {
		return false, nil
	}
	if errors.Is(trouble, errorLocked) || errors.Is(trouble, syscall.ERROR_IO_PENDING) {
		return true, nil
	}
	return false, trouble
}

// TryLockDir does nothing: Windows cannot lock directories. Two processes in one
// directory conflict when they write the same file.
func TryLockDir(*os.File) (taken bool, err error) { return false, nil }

// GiveToOwnerOf does nothing on Windows, where a folder passes its permissions on.
func GiveToOwnerOf(string, string) error { return nil }
