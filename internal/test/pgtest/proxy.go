package pgtest

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Proxy forwards connections to a PostgreSQL server and injects faults: it loses
// one request or response, loses the responses to all commits, delays every
// round trip, or stops forwarding.
type Proxy struct {
	URL    string
	target string

	at      atomic.Int64 // requests until the one to lose; below 1: none
	request atomic.Bool  // lose the request and not the response
	commits atomic.Bool  // lose the response to every commit
	mute    atomic.Bool  // forward nothing on any connection, new ones included
	lost    atomic.Int64
	delay   atomic.Int64 // of every round trip, in nanoseconds

	lock        sync.Mutex
	connections map[*proxied]bool
}

// proxied is one connection through the proxy.
type proxied struct {
	client, server net.Conn
	frozen         atomic.Bool     // stop forwarding
	dropping       atomic.Bool     // drop the response that is under way
	commits        map[string]bool // whether a prepared statement commits, by name
	committing     bool            // whether the current request commits
}

// NewProxy starts a proxy for the server of a URL.
func NewProxy(t testing.TB, server string) *Proxy {
	t.Helper()
	address, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{target: address.Host, connections: map[*proxied]bool{}}
	t.Cleanup(func() {
		listener.Close()
		p.Cut()
	})
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable") // the proxy has to read the messages
	address.RawQuery = query.Encode()
	p.URL = address.String()
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

// Lose makes the proxy lose the response to the n-th request from now, after the
// server has executed it, or the request itself. Then it closes that connection.
func (p *Proxy) Lose(n int64, request bool) {
	p.request.Store(request)
	p.at.Store(n)
}

// LoseCommits turns losing the responses to all commits on or off.
func (p *Proxy) LoseCommits(on bool) { p.commits.Store(on) }

// Lost returns the number of requests and responses that were lost.
func (p *Proxy) Lost() int64 { return p.lost.Load() }

// Freeze stops forwarding on all open connections. New connections work.
func (p *Proxy) Freeze() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for c := range p.connections {
		c.frozen.Store(true)
	}
}

// Mute turns forwarding on all connections off or on again. Connections are still
// accepted.
func (p *Proxy) Mute(on bool) { p.mute.Store(on) }

// Delay makes every round trip longer, as if the server were far away.
func (p *Proxy) Delay(trip time.Duration) { p.delay.Store(int64(trip)) }

// Cut closes every connection.
func (p *Proxy) Cut() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for c := range p.connections {
		c.close()
	}
}

// close closes both halves, because each waits for the other.
func (c *proxied) close() {
	c.client.Close()
	c.server.Close()
}

// serve forwards in both directions until one connection ends. When a response is
// dropped the connection to the server stays open, so that the server can finish.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	c := &proxied{client: client, server: server, commits: map[string]bool{}}
	p.lock.Lock()
	p.connections[c] = true
	p.lock.Unlock()
	defer func() {
		p.lock.Lock()
		delete(p.connections, c)
		p.lock.Unlock()
		c.close()
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer c.close()
		p.responses(c)
	}()
	p.requests(c)
	if !c.dropping.Load() {
		c.close()
	}
	<-done
}

// blocked reports whether messages on a connection must not be forwarded.
func (p *Proxy) blocked(c *proxied) bool { return p.mute.Load() || c.frozen.Load() }

// responses forwards messages to the client or drops them.
func (p *Proxy) responses(c *proxied) {
	for {
		message, err := readMessage(c.server, true)
		if err != nil {
			return
		}
		if p.blocked(c) {
			continue
		}
		if c.dropping.Load() {
			if message[0] == 'Z' { // ready for the next query: this one was executed
				return
			}
			continue
		}
		if message[0] == 'Z' {
			time.Sleep(time.Duration(p.delay.Load()))
		}
		if _, err := c.client.Write(message); err != nil {
			return
		}
	}
}

// requests forwards messages to the server and counts those that expect a
// response.
func (p *Proxy) requests(c *proxied) {
	typed := false // the first message has no type
	for {
		message, err := readMessage(c.client, typed)
		if err != nil {
			return
		}
		if p.blocked(c) {
			continue
		}
		if typed && p.loses(c, message) {
			p.lost.Add(1)
			if p.request.Load() {
				return
			}
			c.dropping.Store(true)
		}
		typed = true
		if _, err := c.server.Write(message); err != nil {
			return
		}
	}
}

// loses reports whether a message completes a request that is to be lost.
func (p *Proxy) loses(c *proxied, message []byte) bool {
	switch parts := bytes.SplitN(message[5:], []byte{0}, 3); {
	case message[0] == 'P' && len(parts) > 1: // parse: name, text
		c.commits[string(parts[0])] = string(parts[1]) == "COMMIT"
	case message[0] == 'B' && len(parts) > 1 && c.commits[string(parts[1])]: // bind: portal, name
		c.committing = true
	case message[0] == 'Q', message[0] == 'S': // a simple query and a sync each expect one response
		commits := c.committing
		c.committing = false
		return p.at.Add(-1) == 0 || commits && p.commits.Load()
	}
	return false
}

// readMessage reads one whole message, so that only whole messages are lost.
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
