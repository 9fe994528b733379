//go:build !linux

package app

import "net"

// stopQueue does nothing where the kernel offers no way to empty a queue first.
func stopQueue(net.Listener) {}
