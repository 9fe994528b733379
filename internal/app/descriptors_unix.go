//go:build unix

package app

import (
	"math"
	"syscall"
)

// spareDescriptors is reserved for files, the database and connections that are
// being rejected.
const spareDescriptors = 2*maxRejecting + 128

// fitDescriptors limits a number of connections to the available file
// descriptors. A caller that gets a refusal is better off than one that waits in
// the kernel's queue for a descriptor.
func fitDescriptors(most, database int) int {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil || limit.Cur > math.MaxInt32 {
		return most
	}
	descriptors := int(limit.Cur)
	return min(most, max(descriptors-spareDescriptors-database, descriptors/2))
}
