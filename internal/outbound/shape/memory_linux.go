package shape

import (
	"syscall"

	"landfall/internal/lib/limits"
)

// limitMemory makes the system refuse memory far beyond the limit, for a program that
// takes it faster than the watch looks. The runtime itself needs a part.
func limitMemory(bytes uint64) {
	most := 2*bytes + limits.ShapeRuntime
	_ = syscall.Setrlimit(syscall.RLIMIT_DATA, &syscall.Rlimit{Cur: most, Max: most}) // the watch looks too
}
