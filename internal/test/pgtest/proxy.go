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
)

// Proxy stands between a client and a PostgreSQL server and misbehaves when
// told to: it loses one exchange, the answers to all commits, or falls silent.
type Proxy struct {
	URL    string
	target string

	at      atomic.Int64 // requests until the one to be lost; below 1: none
	request atomic.Bool  // lose the request and not the answer
	commits atomic.Bool  // lose the answer to every commit
	mute    atomic.Bool  // let nothing through on any connection, new ones too
	lost    atomic.Int64

	lock  sync.Mutex
	lines map[*line]bool
}

// line is one connection through the proxy.
type line struct {
	client, server net.Conn
	frozen         atomic.Bool // nothing comes through any more
	swallowing     atomic.Bool
	names          map[string]bool // of prepared statements that commit
	committing     bool            // the exchange under way does
}

// NewProxy puts one before the server a URL names.
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
	p := &Proxy{target: address.Host, lines: map[*line]bool{}}
	t.Cleanup(func() {
		listener.Close()
		p.Cut()
	})
	address.Host = listener.Addr().String()
	query := address.Query()
	query.Set("sslmode", "disable") // or there is nothing to understand
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

// Lose arms the proxy for the n-th request from now: its answer is lost after
// the server has carried it out, or the request itself. Then that connection
// is cut.
func (p *Proxy) Lose(n int64, request bool) {
	p.request.Store(request)
	p.at.Store(n)
}

// LoseCommits loses the answers to all commits from now on, or no longer.
func (p *Proxy) LoseCommits(on bool) { p.commits.Store(on) }

// Lost tells how many exchanges were lost.
func (p *Proxy) Lost() int64 { return p.lost.Load() }

// Freeze lets nothing through any more on the connections there are; new ones
// work.
func (p *Proxy) Freeze() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for l := range p.lines {
		l.frozen.Store(true)
	}
}

// Mute accepts connections and says nothing on any, until it ends.
func (p *Proxy) Mute(on bool) { p.mute.Store(on) }

// Cut ends every connection.
func (p *Proxy) Cut() {
	p.lock.Lock()
	defer p.lock.Unlock()
	for l := range p.lines {
		l.close()
	}
}

// close ends both halves, since each waits for the other.
func (l *line) close() {
	l.client.Close()
	l.server.Close()
}

// serve joins two connections until one ends. One whose answer is swallowed stays
// open towards the server, which must be able to finish.
func (p *Proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp", p.target)
	if err != nil {
		client.Close()
		return
	}
	l := &line{client: client, server: server, names: map[string]bool{}}
	p.lock.Lock()
	p.lines[l] = true
	p.lock.Unlock()
	defer func() {
		p.lock.Lock()
		delete(p.lines, l)
		p.lock.Unlock()
		l.close()
	}()
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer l.close()
		p.answers(l)
	}()
	p.requests(l)
	if !l.swallowing.Load() {
		l.close()
	}
	<-done
}

// silent says that a message must not go on.
func (p *Proxy) silent(l *line) bool { return p.mute.Load() || l.frozen.Load() }

// answers carries messages back to the client, or loses them.
func (p *Proxy) answers(l *line) {
	for {
		message, err := readMessage(l.server, true)
		if err != nil {
			return
		}
		if p.silent(l) {
			continue
		}
		if l.swallowing.Load() {
			if message[0] == 'Z' { // ready for the next: it is carried out
				return
			}
			continue
		}
		if _, err := l.client.Write(message); err != nil {
			return
		}
	}
}

// requests carries messages to the server and counts what it asks for.
func (p *Proxy) requests(l *line) {
	typed := false // the first message has no type
	for {
		message, err := readMessage(l.client, typed)
		if err != nil {
			return
		}
		if p.silent(l) {
			continue
		}
		if typed && p.loses(l, message) {
			p.lost.Add(1)
			if p.request.Load() {
				return
			}
			l.swallowing.Store(true)
		}
		typed = true
		if _, err := l.server.Write(message); err != nil {
			return
		}
	}
}

// loses says whether a message ends an exchange that is to be lost.
func (p *Proxy) loses(l *line, message []byte) bool {
	switch parts := bytes.SplitN(message[5:], []byte{0}, 3); {
	case message[0] == 'P' && len(parts) > 1: // parse: name, text
		l.names[string(parts[0])] = string(parts[1]) == "COMMIT"
	case message[0] == 'B' && len(parts) > 1 && l.names[string(parts[1])]: // bind: portal, name
		l.committing = true
	case message[0] == 'Q', message[0] == 'S': // a simple query and a sync each ask for one answer
		commits := l.committing
		l.committing = false
		return p.at.Add(-1) == 0 || commits && p.commits.Load()
	}
	return false
}

// readMessage takes one whole message, since half of one could not be lost cleanly.
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
