//go:build !linux

package app

import "net"

// shut does nothing where the kernel offers no way to empty a queue first.
func shut(net.Listener) {}
