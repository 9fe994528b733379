//go:build unix

package engine

import (
	"errors"
	"os"
	"syscall"
)

// denied reports whether this user may not read and write a file or folder. It does
// not open the file: closing it would release the locks that this process holds.
func denied(path string) bool {
	const readAndWrite = 4 | 2
	return errors.Is(syscall.Access(path, readAndWrite), os.ErrPermission)
}
