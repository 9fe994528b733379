//go:build !unix

package app

// fitDescriptors returns the number unchanged: the descriptor limit is unknown on
// this system.
func fitDescriptors(most, _ int) int { return most }
