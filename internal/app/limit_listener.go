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
	// maxRejecting is how many callers are told at once why they were turned
	// away; the rest just see their connection end.
	maxRejecting = 64
	// rejectTimeout is how long one of them may take to listen.
	rejectTimeout = time.Second
	// warnInterval keeps trouble that repeats from filling the log.
	warnInterval = 10 * time.Second
)

// limitListener is a listener that counts who is inside. A connection costs memory and
// a file descriptor before it has said a word, so there is a limit on all of
// them and one on those of a single source, so that nobody can take all.
type limitListener struct {
	*net.TCPListener
	maxOpen      int
	maxPerSource int     // most from one source; 0 is no limit
	proxies      proxies // stand for many callers, so the limit on one is not theirs
	log          *slog.Logger
	encrypted    bool // callers speak TLS, in which there is nothing to say to who is turned away

	rejected       atomic.Int64 // callers turned away
	acceptFailures atomic.Int64 // callers that could not be accepted
	rejecting      chan struct{}
	mu             sync.Mutex
	open           int
	sources        map[netip.Prefix]int
	warnedAt       map[string]time.Time // when each kind of trouble was last told
}

// newLimitListener guards a listener.
func newLimitListener(listener *net.TCPListener, most, each int, known proxies, log *slog.Logger) *limitListener {
	return &limitListener{
		TCPListener: listener, maxOpen: most, maxPerSource: each, proxies: known, log: log,
		rejecting: make(chan struct{}, maxRejecting), sources: map[netip.Prefix]int{}, warnedAt: map[string]time.Time{},
	}
}

// Accept gives the next caller who may come in. Its errors are temporary where
// they can be: the server waits a moment and asks again.
func (d *limitListener) Accept() (net.Conn, error) {
	for {
		caller, err := d.AcceptTCP()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				d.acceptFailures.Add(1)
				d.warn(slog.LevelError, "callers wait outside: the process is out of file descriptors", "error", err.Error())
			}
			return nil, err
		}
		source := sourceOf(caller.RemoteAddr())
		refusal := d.acquire(source)
		if refusal == "" {
			return &limitedConn{TCPConn: caller, listener: d, source: source}, nil
		}
		// The next one is waited for right here: an error would make the server
		// pause, and those who may come in would wait with it.
		d.rejected.Add(1)
		d.warn(slog.LevelWarn, refusal, "inside", d.count(), "turned_away", d.rejected.Load(), "caller", source.Addr().String())
		d.reject(caller)
	}
}

// sourceOf is whose connections are counted together: an IPv4 address, or the
// network that one owner of IPv6 addresses usually has.
func sourceOf(address net.Addr) netip.Prefix {
	caller := parsePeer(address.String())
	bits := caller.BitLen()
	if caller.Is6() {
		bits = 64
	}
	source, _ := caller.Prefix(bits)
	return source
}

// acquire counts a caller in, or says why not.
func (d *limitListener) acquire(source netip.Prefix) (refusal string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.open >= d.maxOpen:
		return "callers are turned away: as many connections as allowed"
	case d.maxPerSource > 0 && d.sources[source] >= d.maxPerSource && !d.proxies.has(source.Addr()):
		return "callers are turned away: as many connections from one source as allowed"
	}
	d.open++
	d.sources[source]++
	return ""
}

// release counts a caller out. A source nobody is inside from is forgotten, or
// the table would grow with everybody who ever called.
func (d *limitListener) release(source netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
	if d.sources[source]--; d.sources[source] == 0 {
		delete(d.sources, source)
	}
}

// count is how many are inside now.
func (d *limitListener) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// warn logs trouble of one kind, but not again and again.
func (d *limitListener) warn(level slog.Level, what string, fields ...any) {
	d.mu.Lock()
	due := time.Since(d.warnedAt[what]) >= warnInterval
	if due {
		d.warnedAt[what] = time.Now()
	}
	d.mu.Unlock()
	if due {
		d.log.Log(context.Background(), level, what, fields...)
	}
}

// rejection is an answer like any other of ours, written without reading the
// question.
var rejection = func() []byte {
	body := contract.ErrorBody.Append(nil, &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
		Detail: "Too many connections are open. Use fewer, or come back later.",
	})
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Retry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n%s", len(body), body)
	return out.Bytes()
}()

// reject ends a connection, with a word if there are not too many to tell.
// What the caller sends meanwhile is read and dropped, because a connection
// closed with something unread takes the answer back.
func (d *limitListener) reject(caller *net.TCPConn) {
	// Who is told nothing is reset rather than closed, so that the system keeps nothing
	// of him: there may be very many.
	if d.encrypted {
		_ = caller.SetLinger(0)
		_ = caller.Close()
		return
	}
	select {
	case d.rejecting <- struct{}{}:
	default:
		_ = caller.SetLinger(0)
		_ = caller.Close()
		return
	}
	go func() {
		defer func() { <-d.rejecting }()
		defer func() { _ = caller.Close() }() // who was sent away may have left
		_ = caller.SetDeadline(time.Now().Add(rejectTimeout))
		if _, err := caller.Write(rejection); err == nil && caller.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, caller, 64<<10)
		}
	}()
}

// limitedConn is a connection that is counted until it ends.
type limitedConn struct {
	*net.TCPConn
	listener *limitListener
	source   netip.Prefix
	closed   atomic.Bool
}

// Close ends the connection and makes room for another.
func (g *limitedConn) Close() error {
	// A server may close a connection twice, and each counts once.
	if g.closed.CompareAndSwap(false, true) {
		g.listener.release(g.source)
	}
	return g.TCPConn.Close()
}
