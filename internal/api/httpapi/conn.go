package httpapi

import (
	"context"
	"crypto/tls"
	"net"
)

type connKey struct{}

// WithConn stores the connection in the context of its requests. Use it as the
// ConnContext of a server.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// resetOnAbort makes an aborted connection discard data that is still being
// sent, until kept is called. Buffers on the way to the client hold megabytes: a
// client that was cut off, because its key was revoked or it reads too slowly,
// could go on reading them for a long time.
func resetOnAbort(ctx context.Context) (kept func()) {
	conn := ctx.Value(connKey{})
	// With TLS, use the underlying connection. HTTP/2 requests share a connection,
	// which must not be reset.
	if secret, ok := conn.(*tls.Conn); ok && secret.ConnectionState().NegotiatedProtocol != "h2" {
		conn = secret.NetConn()
	}
	line, reachable := conn.(interface{ SetLinger(seconds int) error })
	if !reachable || line.SetLinger(0) != nil {
		return func() {}
	}
	return func() { _ = line.SetLinger(-1) }
}
