package app

import (
	"net"
	"time"
)

// steadyListener gives every answer a time limit that counts from the last
// byte taken, not from the start: a list of a million rows may stream for
// minutes, while a caller that stops reading is cut off.
type steadyListener struct {
	net.Listener
	stall time.Duration
}

func (l steadyListener) Accept() (net.Conn, error) {
	connection, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return steadyConn{connection, l.stall}, nil
}

type steadyConn struct {
	net.Conn
	stall time.Duration
}

// Write moves the limit before every piece. net/http writes pieces of a few
// kilobytes, so even a slow line moves one within the limit.
func (c steadyConn) Write(piece []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.stall)); err != nil {
		return 0, err
	}
	return c.Conn.Write(piece)
}
