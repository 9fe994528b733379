package bulk

import (
	"context"
	"errors"
	"sync"
	"time"

	"landfall"
)

const (
	// watchEvery is how often one looks at a request.
	watchEvery = 200 * time.Millisecond
	// trust is how long who is asking is believed. Together with what is under
	// way then it is less than the ten seconds in which a revocation must be felt.
	trust = 3 * time.Second
	// asking is how long that question may take.
	asking = 3 * time.Second
	// quiet is how long a caller may neither send nor take anything while we
	// wait for him.
	quiet = 30 * time.Second
)

// watch looks after a request until the function it gives back is called: the
// service may end, the sender's key be revoked, the sender leave.
func (t *stream) watch(ctx context.Context) (end func()) {
	var running sync.WaitGroup
	over := make(chan struct{})
	running.Go(func() {
		ticker := time.NewTicker(watchEvery)
		defer ticker.Stop()
		asked, moved, since := time.Now(), int64(-1), time.Now()
		for {
			select {
			case <-over:
				return
			case <-ctx.Done():
				t.abandon()
				return
			case now := <-ticker.C:
				if t.Draining() {
					t.stop(errEnding)
				}
				if now.Sub(asked) >= trust {
					t.ask(ctx)
					asked = now
				}
				// Whoever waits for us is not slow.
				if seen := t.moved.Load(); seen != moved || !t.reading.Load() {
					moved, since = seen, now
				}
				_ = t.request.Line.SetWriteDeadline(since.Add(quiet))
			}
		}
	})
	return func() {
		close(over)
		running.Wait()
	}
}

// ask finds out whether the sender may still do this. That it cannot be found
// out is no answer: lines that need the database will notice.
func (t *stream) ask(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	refusal, ours := errors.AsType[*landfall.Error](t.request.Again(ctx))
	if ours && (refusal.Kind == landfall.Unauthenticated || refusal.Kind == landfall.Forbidden) {
		t.stop(refusal)
	}
}
