package mailtest

import (
	"net"
	"testing"
)

// Speaking runs a server that is none of a mail server's: to everybody who comes
// it says what the test says, and ends the line when that returns. It gives its
// address. What no real server does on request, such as to speak without end, is
// tried with it.
func Speaking(t testing.TB, say func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // nobody comes any more
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = connection.Close() }() // all was said
				say(connection)
			}()
		}
	}()
	return listener.Addr().String()
}
