package httpapi

import (
	"context"
	"crypto/tls"
	"net"
	"sync/atomic"
	"time"

	"landfall/internal/lib/limits"
)

type connKey struct{}

// connection is the connection of a request.
type connection struct {
	net.Conn
	retryAt atomic.Int64 // when the client may retry after a refusal, in Unix nanoseconds
}

// WithConn stores the connection in the context of its requests. Use it as the
// ConnContext of a server.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, &connection{Conn: conn})
}

// noteRetry remembers when the client of a refused request may retry.
func noteRetry(ctx context.Context, after time.Duration) {
	if conn, ok := ctx.Value(connKey{}).(*connection); ok {
		conn.retryAt.Store(time.Now().Add(after).UnixNano())
	}
}

// holdEarlyRetry delays a client that ignores Retry-After, for a second at most.
// Otherwise it would use the processor time of others with requests that are
// refused again. Waiting costs nothing but the connection. Requests of HTTP/2
// share a connection and are not delayed.
func (a *API) holdEarlyRetry(ctx context.Context, x *exchange) {
	conn, ok := ctx.Value(connKey{}).(*connection)
	if !ok || x.request.ProtoMajor != 1 {
		return
	}
	left := min(time.Duration(conn.retryAt.Load()-x.started.UnixNano()), limits.EarlyRetryHold)
	if left <= 0 {
		return
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	case <-a.Ending:
	}
}

// resetOnAbort makes an aborted connection discard data that is still being
// sent, until kept is called. Buffers on the way to the client hold megabytes: a
// client that was cut off, because its key was revoked or it reads too slowly,
// could go on reading them for a long time.
func resetOnAbort(ctx context.Context) (kept func()) {
	known, ok := ctx.Value(connKey{}).(*connection)
	if !ok {
		return func() {}
	}
	conn := known.Conn
	// With TLS, use the underlying connection. HTTP/2 requests share a connection,
	// which must not be reset.
	if secret, encrypted := conn.(*tls.Conn); encrypted && secret.ConnectionState().NegotiatedProtocol != "h2" {
		conn = secret.NetConn()
	}
	line, reachable := conn.(interface{ SetLinger(seconds int) error })
	if !reachable || line.SetLinger(0) != nil {
		return func() {}
	}
	return func() { _ = line.SetLinger(-1) }
}
