//go:build unix

package app

import (
	"math"
	"syscall"
)

// spareDescriptors is what files, the database and callers being turned away
// need beside connections.
const spareDescriptors = 2*maxRejecting + 128

// fitDescriptors bounds a number of connections by the file descriptors there are: one
// that is refused in words is better served than one that waits in the
// kernel's queue for a descriptor.
func fitDescriptors(most, database int) int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > math.MaxInt32 {
		return most
	}
	descriptors := int(limit.Cur)
	return min(most, max(descriptors-spareDescriptors-database, descriptors/2))
}
