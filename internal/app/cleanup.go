package app

import (
	"context"
	"math/rand/v2"
	"time"

	"landfall/internal/lib/limits"
)

// deleteInterval is the interval between deletions of expired tokens. They are already
// useless; this only keeps their table small.
const deleteInterval = limits.TokenSweep

// deleteExpired deletes expired tokens and sessions until the context ends. After an error the
// next round tries again.
func (a *App) deleteExpired(ctx context.Context) {
	for {
		// Replicas that start together should not run at the same time.
		pause := deleteInterval/2 + rand.N(deleteInterval) //nolint:gosec // only spreads the replicas
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
		if dropped, err := a.issuer.Sweep(ctx); err != nil {
			a.log.Warn("cannot delete expired tokens", "error", err)
		} else if dropped > 0 {
			a.log.Debug("expired tokens deleted", "count", dropped)
		}
		if _, err := a.sessions.Sweep(ctx); err != nil {
			a.log.Warn("cannot delete expired console sessions", "error", err)
		}
	}
}

// recordKeyUses records which keys were used and how many sign-ins were refused, at intervals and at shutdown. A write for every
// request would cost more than the request.
func (a *App) recordKeyUses(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-time.After(limits.KeyUseFlush):
		case <-ctx.Done():
			ended = true
		}
		// Record the last uses during a shutdown too.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.LastFlush)
		if err := a.gate.SaveKeyUses(last); err != nil {
			a.log.Warn("cannot record key uses; will retry", "error", err)
		}
		if err := a.sessions.SaveRefusals(last, ended); err != nil {
			a.log.Warn("cannot record refused console sign-ins", "error", err)
		}
		cancel()
	}
}
