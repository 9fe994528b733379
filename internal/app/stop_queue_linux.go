package app

import (
	"net"
	"syscall"
)

// stopQueue keeps new connections out of a listener's queue, while those in it
// can still be accepted. Closing the listener at once would reset them, some with
// a request already sent. The kernel has no call for this, so we attach a packet
// filter that drops everything. A new caller finds the port closed at its second
// attempt.
func stopQueue(listener net.Listener) {
	socket, ok := listener.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return
	}
	dropAll := []syscall.SockFilter{{Code: syscall.BPF_RET | syscall.BPF_K}}
	_ = raw.Control(func(fd uintptr) {
		// Without the filter, the shutdown may reset a few connections.
		_ = syscall.AttachLsf(int(fd), dropAll) //nolint:staticcheck // a whole module for one call is no better
	})
}
