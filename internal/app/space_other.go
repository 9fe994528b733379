//go:build !unix

package app

// FreeSpace is unknown on this system.
func FreeSpace(string) (free uint64, known bool) { return 0, false }
