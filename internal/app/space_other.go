//go:build !unix

package app

// freeSpace is unknown on this system.
func freeSpace(string) (free uint64, known bool) { return 0, false }
