package app

import (
	"bytes"
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
	"landfall/internal/lib/limits"
)

const (
	// maxRejecting limits the rejected connections that get a response at the same time; the
	// others are just closed.
	maxRejecting = limits.RefusedConnections
)

// limitListener limits the open connections in total and per source, because a connection
// costs memory and a file descriptor before it sends anything.
type limitListener struct {
	*net.TCPListener
	maxOpen      int
	maxPerSource int            // 0 means no limit
	proxies      trustedProxies // exempt from maxPerSource
	log          *slog.Logger
	encrypted    bool // with TLS a rejected connection gets no response

	rejected       atomic.Int64 // connections
	acceptFailures atomic.Int64 // connections that could not be accepted
	rejecting      chan struct{}
	mu             sync.Mutex
	open           int
	sources        map[netip.Prefix]int
}

func newLimitListener(listener *net.TCPListener, most, each int, known trustedProxies, log *slog.Logger) *limitListener {
	return &limitListener{
		TCPListener: listener, maxOpen: most, maxPerSource: each, proxies: known, log: log,
		rejecting: make(chan struct{}, maxRejecting), sources: map[netip.Prefix]int{},
	}
}

// Accept returns the next connection within the limits.
func (d *limitListener) Accept() (net.Conn, error) {
	for {
		caller, err := d.AcceptTCP()
		if err != nil {
			if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
				d.acceptFailures.Add(1)
				d.log.Error("cannot accept connections: out of file descriptors", "error", err.Error())
			}
			return nil, err
		}
		source := sourceOf(caller.RemoteAddr())
		limit := d.acquire(source)
		if limit == "" {
			return &limitedConn{TCPConn: caller, listener: d, source: source}, nil
		}
		// Do not return an error: it would make http.Server pause, and valid connections
		// would wait.
		d.rejected.Add(1)
		d.log.Warn("rejecting connections: the limit is reached", "setting", limit, "open", d.count(), "rejected", d.rejected.Load(), "caller", source.Addr().String())
		d.reject(caller)
	}
}

// sourceOf returns the IPv4 address, or the IPv6 /64 network, of a caller.
func sourceOf(address net.Addr) netip.Prefix {
	caller := parsePeer(address.String())
	bits := caller.BitLen()
	if caller.Is6() {
		bits = 64
	}
	source, _ := caller.Prefix(bits)
	return source
}

// acquire counts a connection, or returns the setting, the limit, by which it is refused.
func (d *limitListener) acquire(source netip.Prefix) (limit string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.open >= d.maxOpen:
		return "max-connections"
	case d.maxPerSource > 0 && d.sources[source] >= d.maxPerSource && !d.proxies.has(source.Addr()):
		return "max-connections-per-source"
	}
	d.open++
	d.sources[source]++
	return ""
}

// release stops counting a connection and removes sources without connections.
func (d *limitListener) release(source netip.Prefix) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.open--
	if d.sources[source]--; d.sources[source] == 0 {
		delete(d.sources, source)
	}
}

// count returns the number of open connections.
func (d *limitListener) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.open
}

// rejection is the response to a rejected connection, sent without reading the request.
var rejection = func() []byte {
	body := contract.ErrorBody.Append(nil, &landfall.Error{
		Kind: landfall.Unavailable, Code: landfall.CodeServiceUnavailable,
		Detail: "Too many connections are open. Use fewer, or retry later.",
	})
	var out bytes.Buffer
	fmt.Fprintf(&out, "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nContent-Length: %d\r\n"+
		"Retry-After: 1\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n%s", len(body), body)
	return out.Bytes()
}()

// reject closes a connection, with a response if there are not too many. It reads and drops
// what the caller sends, because closing a connection with unread data discards the
// response.
func (d *limitListener) reject(caller *net.TCPConn) {
	// Reset connections without a response, so that the kernel keeps no state.
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
		defer func() { _ = caller.Close() }() // the caller may have closed it
		_ = caller.SetDeadline(time.Now().Add(limits.RefusedConnection))
		if _, err := caller.Write(rejection); err == nil && caller.CloseWrite() == nil {
			_, _ = io.CopyN(io.Discard, caller, limits.HeaderBytes)
		}
	}()
}

// limitedConn is a connection that counts until it is closed.
type limitedConn struct {
	*net.TCPConn
	listener *limitListener
	source   netip.Prefix
	closed   atomic.Bool
}

// Close closes the connection and stops counting it.
func (g *limitedConn) Close() error {
	// Close may be called twice.
	if g.closed.CompareAndSwap(false, true) {
		g.listener.release(g.source)
	}
	return g.TCPConn.Close()
}
