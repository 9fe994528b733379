package filelock

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

// Plain says nothing here: links are rare and need rights of their own.
const Plain = 0

var lockFileEx = syscall.NewLazyDLL("kernel32.dll").NewProc("LockFileEx")

const (
	atOnceAndAlone = 1 | 2 // LOCKFILE_FAIL_IMMEDIATELY, LOCKFILE_EXCLUSIVE_LOCK
	errorLocked    = syscall.Errno(33)
	farAway        = 0x7fffffff
)

// Try takes the lock of a file, or says that somebody else has it. A byte far
// behind the end is locked, so that what is written in the file can be read.
func Try(file *os.File) (taken bool, err error) {
	where := syscall.Overlapped{OffsetHigh: farAway}
	done, _, trouble := lockFileEx.Call(file.Fd(), atOnceAndAlone, 0, 1, 0, uintptr(unsafe.Pointer(&where)))
	if done != 0 {
		return false, nil
	}
	if errors.Is(trouble, errorLocked) || errors.Is(trouble, syscall.ERROR_IO_PENDING) {
		return true, nil
	}
	return false, trouble
}

// TryFolder locks nothing: folders have no locks here, and two at work in one
// meet when they write the same file.
func TryFolder(*os.File) (taken bool, err error) { return false, nil }
