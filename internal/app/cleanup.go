package app

import (
	"context"
	"math/rand/v2"
	"time"
)

// deleteInterval is how often expired tokens are forgotten. They are worthless
// already; this only keeps their table small.
const deleteInterval = 10 * time.Minute

// deleteExpired forgets expired tokens until the context ends. A failure is no trouble:
// the next round finds them again.
func (a *App) deleteExpired(ctx context.Context) {
	for {
		// Replicas started together spread out.
		pause := deleteInterval/2 + rand.N(deleteInterval) //nolint:gosec // nothing hangs on it
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		if dropped, err := a.issuer.Sweep(ctx); err != nil {
			a.log.Warn("expired tokens could not be forgotten", "error", err)
		} else if dropped > 0 {
			a.log.Debug("expired tokens forgotten", "count", dropped)
		}
		if _, err := a.sessions.Sweep(ctx); err != nil {
			a.log.Warn("sessions of the console that are over could not be forgotten", "error", err)
		}
	}
}

// keyUseInterval is how exactly operators see when a key was last used.
const keyUseInterval = time.Minute

// recordKeyUses writes down now and then which keys were used, and once more at
// the end: a write for every request would cost more than the request.
func (a *App) recordKeyUses(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-time.After(keyUseInterval):
		case <-ctx.Done():
			ended = true
		}
		// The last uses are written down although the end has come.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyUseTimeout)
		if err := a.gate.KeepUses(last); err != nil {
			a.log.Warn("when keys were used is not written down yet", "error", err)
		}
		cancel()
	}
}
