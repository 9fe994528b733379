package sqlstore_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync/atomic"
	"testing"
)

// swallower stands between a client and a PostgreSQL server and loses exactly
// one exchange: either the server's answer, after it has carried the request
// out, or the request itself. Then it cuts that connection. New connections
// are let through.
type swallower struct {
	URL     string
	target  string
	at      atomic.Int64 // requests until the one to be lost; below 1: none
	request atomic.Bool  // lose the request and not the answer
	lost    atomic.Int64 // how many were
}

// newSwallower puts one before the server a URL names.
func newSwallower(t testing.TB, server string) *swallower {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	s := &swallower{target: address.Host}
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable") // or there is nothing to understand
	address.RawQuery = query.Encode()
	s.URL = address.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go s.serve(client)
		}
	}()
	return s
}

// lose arms the swallower for the n-th request from now.
func (s *swallower) lose(n int64, request bool) {
	s.request.Store(request)
	s.at.Store(n)
}

func (s *swallower) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", s.target)
	if err != nil {
		return
	}
	defer server.Close()
	var swallowing atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer client.Close()
		defer server.Close()
		for {
			message, err := readMessage(server, true)
			if err != nil {
				return
			}
			if swallowing.Load() {
				if message[0] == 'Z' { // ready for the next: it is carried out
					return
				}
				continue
			}
			if _, err := client.Write(message); err != nil {
				return
			}
		}
	}()
	typed := false // the first message has no type
	for {
		message, err := readMessage(client, typed)
		if err != nil {
			break
		}
		typed = true
		// A simple query and a sync each ask for one answer.
		if message[0] == 'Q' || message[0] == 'S' && len(message) == 5 {
			if s.at.Add(-1) == 0 {
				s.lost.Add(1)
				if s.request.Load() {
					break
				}
				swallowing.Store(true)
			}
		}
		if _, err := server.Write(message); err != nil {
			break
		}
	}
	if !swallowing.Load() {
		server.Close()
		client.Close()
	}
	<-done
}

func readMessage(from io.Reader, typed bool) ([]byte, error) {
	head := make([]byte, 4, 5)
	if typed {
		head = head[:5]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return nil, err
	}
	length := binary.BigEndian.Uint32(head[len(head)-4:])
	message := make([]byte, len(head)+int(length)-4)
	copy(message, head)
	_, err := io.ReadFull(from, message[len(head):])
	return message, err
}
