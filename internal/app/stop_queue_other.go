//go:build !linux

package app

import "net"

// stopQueue does nothing on systems that cannot drain the queue first.
func stopQueue(net.Listener) {}
