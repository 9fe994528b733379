package app

import (
	"net"
	"syscall"
)

// stopQueue lets nobody new into a listener's queue, while those who are in it can
// still be accepted. Closing a listener at once would reset their connections,
// some of them with a request already sent. The kernel has no call for this, so
// a packet filter that drops everything stands in the door; who knocks now
// meets a closed port at the second try.
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
		// Without the filter the end is merely a little less gentle.
		_ = syscall.AttachLsf(int(fd), dropAll) //nolint:staticcheck // a whole module for one call is no better
	})
}
