package app

import (
	"context"
	"time"

	"landfall/internal/lib/limits"
)

// keepBytes stores at intervals, and once more at shutdown, how many bytes
// organisations have sent.
func (a *App) keepBytes(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-time.After(limits.QuotaFlush):
		case <-ctx.Done():
			ended = true
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), limits.LastFlush)
		if err := a.quota.FlushBytes(last); err != nil {
			a.log.Warn("cannot record the bytes that organisations sent; trying again", "error", err)
		}
		cancel()
	}
}
