package crashtest_test

import (
	"net"
	"net/url"
	"sync"
	"testing"
	"time"
)

// proxy forwards connections between a program and its PostgreSQL server, or
// between that server and its standby, and simulates network failures.
type proxy struct {
	address string
	target  string
	mutex   sync.Mutex
	state   linkState // of new connections
	pairs   map[*pair]bool
}

// linkState is what happens to the bytes of a connection.
type linkState uint8

const (
	forwarding        linkState = iota // forwards both directions
	droppingResponses                  // forwards requests, drops responses
	silent                             // forwards nothing and closes nothing
)

// pair is one connection through the proxy. Its state never improves: what was
// lost on a connection stays lost.
type pair struct {
	client, server net.Conn
	mutex          sync.Mutex
	state          linkState
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: listener.Addr().String(), target: target, pairs: map[*pair]bool{}}
	t.Cleanup(func() {
		listener.Close()
		p.cut()
	})
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

// startProxy starts a proxy for the server of a URL and returns the URL of the
// proxy.
func startProxy(t *testing.T, database string) (*proxy, string) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	p := newProxy(t, address.Host)
	address.Host = p.address
	return p, address.String()
}

func (p *proxy) serve(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		return
	}
	defer server.Close()
	p.mutex.Lock()
	one := &pair{client: client, server: server, state: p.state}
	p.pairs[one] = true
	p.mutex.Unlock()
	done := make(chan struct{})
	go func() {
		one.copy(server, client, silent)
		close(done)
	}()
	one.copy(client, server, droppingResponses)
	<-done
	p.mutex.Lock()
	delete(p.pairs, one)
	p.mutex.Unlock()
}

// copy forwards bytes in one direction. Once the connection no longer forwards,
// it reads and discards them.
func (p *pair) copy(to, from net.Conn, until linkState) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			// A silent connection does not even report that the other end is
			// closed.
			if p.now() < silent {
				to.Close()
			}
			return
		}
		if p.now() >= until {
			continue
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			from.Close()
			return
		}
	}
}

func (p *pair) now() linkState {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.state
}

// turn sets the state of all connections, current and future.
func (p *proxy) turn(now, next linkState) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.state = next
	for one := range p.pairs {
		one.mutex.Lock()
		one.state = max(one.state, now)
		one.mutex.Unlock()
	}
}

// lose drops the responses on all connections while something happens and then
// closes them, as a failover does. New connections work.
func (p *proxy) lose(meanwhile func()) {
	p.turn(droppingResponses, forwarding)
	meanwhile()
	time.Sleep(200 * time.Millisecond)
	p.cut()
}

// silence makes all connections silent, current and future.
func (p *proxy) silence() { p.turn(silent, silent) }

// restore lets new connections work. The silent ones stay silent.
func (p *proxy) restore() { p.turn(forwarding, forwarding) }

// cut closes all connections.
func (p *proxy) cut() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for one := range p.pairs {
		one.client.Close()
		one.server.Close()
	}
}
