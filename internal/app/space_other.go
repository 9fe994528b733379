//go:build !unix

package app

// freeSpace is not known here.
func freeSpace(string) (free uint64, known bool) { return 0, false }
