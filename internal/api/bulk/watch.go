package bulk

import (
	"context"
	"errors"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

const (
	// authLifetime is how long an authentication is trusted. Together with the
	// work in progress it is less than the ten seconds within which a revocation
	// must take effect.
	authLifetime = limits.KeyRecheck
	// idleTimeout is how long a client may neither send nor read anything while
	// the service waits for it.
	idleTimeout = limits.BulkIdle
)

// watch stops a request when the service shuts down, the sender's key is
// revoked or the client disconnects. It runs until the returned function is
// called.
func (t *stream) watch(ctx context.Context) (end func()) {
	var running sync.WaitGroup
	over := make(chan struct{})
	running.Go(func() {
		ticker := time.NewTicker(limits.BulkWatch)
		defer ticker.Stop()
		asked, moved, since := time.Now(), int64(-1), time.Now()
		for {
			select {
			case <-over:
				return
			case <-ctx.Done():
				t.clientGone()
				return
			case now := <-ticker.C:
				if t.Draining() {
					t.stop(errShuttingDown)
				}
				if now.Sub(asked) >= authLifetime {
					t.checkAuth(ctx)
					asked = now
				}
				// A client that waits for the service is not idle.
				if seen := t.moved.Load(); seen != moved || !t.reading.Load() {
					moved, since = seen, now
				}
				_ = t.request.Writer.SetWriteDeadline(since.Add(idleTimeout))
			}
		}
	})
	return func() {
		close(over)
		running.Wait()
	}
}

// checkAuth stops the request if the sender is no longer allowed. An error that
// is not a refusal is ignored: lines that need the database will fail by
// themselves.
func (t *stream) checkAuth(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, limits.BulkKeyCheck)
	defer cancel()
	refusal, ours := errors.AsType[*landfall.Error](t.request.Authenticate(ctx))
	if ours && (refusal.Kind == landfall.Unauthenticated || refusal.Kind == landfall.Forbidden) {
		t.stop(refusal)
	}
}
