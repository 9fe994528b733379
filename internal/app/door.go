package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"landfall"
	"landfall/internal/api/contract"
)

const (
	// mostLeaving is how many callers are told at once why they were turned
	// away; the rest just see their connection end.
	mostLeaving = 64
	// goodbye is how long one of them may take to listen.
	goodbye = time.Second
	// tellEvery keeps trouble that repeats from filling the log.
	tellEvery = 10 * time.Second
)

// door is a listener that counts who is inside. A connection costs memory and
// a file descriptor before it has said a word, so there is a limit on all of
// them and one on those of a single source, so that nobody can take all.
type door struct {
	*net.TCPListener
	most    int
	each    int     // most from one source; 0 is no limit
	proxies proxies // stand for many callers, so the limit on one is not theirs
	log     *slog.Logger
	secret  bool // callers speak TLS, in which there is nothing to say to who is turned away

	turned  atomic.Int64 // callers turned away
	failed  atomic.Int64 // callers that could not be accepted
	leaving chan struct{}
	mu      sync.Mutex
	inside  int
	sources map[netip.Prefix]int
	told    map[string]time.Time // when each kind of trouble was last told
}

// newDoor guards a listener.
func newDoor(listener *net.TCPListener, most, each int, known proxies, log *slog.Logger) *door {
	return &door{
		TCPListener: listener, most: most, each: each, proxies: known, log: log,
		leaving: make(chan struct{}, mostLeaving), sources: map[netip.Prefix]int{}, told: map[string]time.Time{},
	}
}

// Accept gives the next caller who may come in. Its errors are temporary where
// they can be: the server waits a moment and asks again.
func (d *door) Accept() (net.Conn, error) {
	for {
		caller, err := d.AcceptTCP()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				d.failed.Add(1)
				d.tell(slog.LevelError, "callers wait outside: the process is out of file descriptors", "error", err.Error())
			}
			return nil, err
		}
		source := sourceOf(caller.RemoteAddr())
		refusal := d.enter(source)
		if refusal == "" {
			return &guest{TCPConn: caller, door: d, source: source}, nil
		}
		// The next one is waited for right here: an error would make the server
		// pause, and those who may come in would wait with it.
		d.turned.Add(1)
		d.tell(slog.LevelWarn, refusal, "inside", d.count(), "turned_away", d.turned.Load(), "caller", source.Addr().String())
		d.turnAway(caller)
	}
}

// sourceOf is whose connections are counted together: an IPv4 address, or the
// network that one owner of IPv6 addresses usually has.
func sourceOf(address net.Addr) netip.Prefix {
	caller := peer(address.String())
	bits := caller.BitLen()
	if caller.Is6() {
		bits = 64
	}
	source, _ := caller.Prefix(bits)
	return source
}

// enter counts a caller in, or says why not.
func (d *door) enter(source netip.Prefix) (refusal string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.inside >= d.most:
		return "callers are turned away: as many connections as allowed"
	case d.each > 0 && d.sources[source] >= d.each && !d.proxies.has(source.Addr()):
		return "callers are turned away: as many connections from one source as allowed"
	}
	d.inside++
	d.sources[source]++
	return ""
}

// leave counts a caller out. A source nobody is inside from is forgotten, or
// the table would grow with everybody who ever called.
func (d *door) leave(source netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.inside--
	if d.sources[source]--; d.sources[source] == 0 {
		delete(d.sources, source)
	}
}

// count is how many are inside now.
func (d *door) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.inside
}

// tell logs trouble of one kind, but not again and again.
func (d *door) tell(level slog.Level, what string, fields ...any) {
	d.mu.Lock()
	due := time.Since(d.told[what]) >= tellEvery
	if due {
		d.told[what] = time.Now()
	}
	d.mu.Unlock()
	if due {
		d.log.Log(context.Background(), level, what, fields...)
	}
}

// farewell is an answer like any other of ours, written without reading the
// question.
var farewell = func() []byte {
	body := contract.ErrorBody.Append(nil, &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
		Detail: "Too many connections are open. Use fewer, or come back later.",
	})
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Retry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n%s", len(body), body)
	return out.Bytes()
}()

// turnAway ends a connection, with a word if there are not too many to tell.
// What the caller sends meanwhile is read and dropped, because a connection
// closed with something unread takes the answer back.
func (d *door) turnAway(caller *net.TCPConn) {
	// Who is told nothing is reset rather than closed, so that the system keeps nothing
	// of him: there may be very many.
	if d.secret {
		_ = caller.SetLinger(0)
		_ = caller.Close()
		return
	}
	select {
	case d.leaving <- struct{}{}:
	default:
		_ = caller.SetLinger(0)
		_ = caller.Close()
		return
	}
	go func() {
		defer func() { <-d.leaving }()
		defer func() { _ = caller.Close() }() // who was sent away may have left
		_ = caller.SetDeadline(time.Now().Add(goodbye))
		if _, err := caller.Write(farewell); err == nil && caller.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, caller, 64<<10)
		}
	}()
}

// guest is a connection that is counted until it ends.
type guest struct {
	*net.TCPConn
	door   *door
	source netip.Prefix
	gone   atomic.Bool
}

// Close ends the connection and makes room for another.
func (g *guest) Close() error {
	// A server may close a connection twice, and each counts once.
	if g.gone.CompareAndSwap(false, true) {
		g.door.leave(g.source)
	}
	return g.TCPConn.Close()
}
