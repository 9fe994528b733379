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
	// watchInterval is how often one looks at a request.
	watchInterval = limits.BulkWatch
	// authLifetime is how long who is asking is believed. Together with what is under
	// way then it is less than the ten seconds in which a revocation must be felt.
	authLifetime = limits.KeyTrust
	// authTimeout is how long that question may take.
	authTimeout = limits.BulkKeyCheck
	// idleTimeout is how long a caller may neither send nor take anything while we
	// wait for him.
	idleTimeout = limits.BulkSilence
)

// watch looks after a request until the function it gives back is called: the
// service may end, the sender's key be revoked, the sender leave.
func (t *stream) watch(ctx context.Context) (end func()) {
	var running sync.WaitGroup
	over := make(chan struct{})
	running.Go(func() {
		ticker := time.NewTicker(watchInterval)
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
				// Whoever waits for us is not slow.
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

// checkAuth finds out whether the sender may still do this. That it cannot be found
// out is no answer: lines that need the database will notice.
func (t *stream) checkAuth(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, authTimeout)
	defer cancel()
	refusal, ours := errors.AsType[*landfall.Error](t.request.Authenticate(ctx))
	if ours && (refusal.Kind == landfall.Unauthenticated || refusal.Kind == landfall.Forbidden) {
		t.stop(refusal)
	}
}
