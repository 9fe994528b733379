//go:build unix

package app

import (
	"os"
	"syscall"
)

// readableByOthers reports whether users other than the owner and root may read a file. A missing
// file is reported elsewhere.
func readableByOthers(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	others := info.Mode().Perm() & 0o077
	// systemd gives credentials to the group root and to one user by an access control list, which
	// looks like a group that may read.
	if owner, is := info.Sys().(*syscall.Stat_t); is && owner.Gid == 0 {
		others &= 0o007
	}
	return others != 0
}
