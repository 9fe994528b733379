//go:build unix

package app

import "syscall"

// FreeSpace returns how many bytes are free for a folder.
func FreeSpace(folder string) (free uint64, known bool) {
	var stat syscall.Statfs_t
	if syscall.Statfs(folder, &stat) != nil {
		return 0, false
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), true //nolint:gosec,unconvert // their types differ between systems
}
