package httpapi

import (
	"context"
	"crypto/tls"
	"net"
)

type connKey struct{}

// WithConn lets requests reach the connection they come over. It is what a
// server's ConnContext is for.
func WithConn(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// resetOnAbort makes a connection one that takes back what is still on its way when
// it is cut, until kept is called. The buffers between a reader and us hold
// megabytes: somebody who is cut off, because his key was revoked or he takes too
// long, would go on reading them for as long as he likes.
func resetOnAbort(ctx context.Context) (kept func()) {
	conn := ctx.Value(connKey{})
	// Over TLS the connection is inside another one; requests of HTTP/2 share theirs
	// with others, from whom nothing must be taken back.
	if secret, ok := conn.(*tls.Conn); ok && secret.ConnectionState().NegotiatedProtocol != "h2" {
		conn = secret.NetConn()
	}
	line, reachable := conn.(interface{ SetLinger(seconds int) error })
	if !reachable || line.SetLinger(0) != nil {
		return func() {}
	}
	return func() { _ = line.SetLinger(-1) }
}
