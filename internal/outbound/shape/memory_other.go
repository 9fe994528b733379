//go:build !linux

package shape

// limitMemory does nothing here; the watch ends the process.
func limitMemory(uint64) {}
