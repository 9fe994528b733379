package mailtest

import (
	"net"
	"testing"
)

// Fake starts a server whose replies the test writes itself, for what a real mail
// server never does, such as an endless reply. It calls serve for each connection,
// closes the connection when serve returns, and returns the address.
func Fake(t testing.TB, serve func(net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0") // it ends with the test
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() }) // the test is over
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = connection.Close() }() // serve is done
				serve(connection)
			}()
		}
	}()
	return listener.Addr().String()
}
