//go:build unix

package app

import "syscall"

// DiskSpace returns how many bytes of a folder's disk are free for us, and its size.
func DiskSpace(folder string) (free, size uint64, known bool) {
	var stat syscall.Statfs_t
	if syscall.Statfs(folder, &stat) != nil {
		return 0, 0, false
	}
	return uint64(stat.Bavail) * uint64(stat.Bsize), uint64(stat.Blocks) * uint64(stat.Bsize), true //nolint:gosec,unconvert // their types differ between systems
}
