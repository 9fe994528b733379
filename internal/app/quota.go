package app

import (
	"context"
	"time"

	"landfall/internal/lib/limits"
)

// bytesEvery is how often the servers store and exchange the bytes of a day.
const bytesEvery = limits.QuotaFlush

// keepBytes stores at intervals, and once more at shutdown, how many bytes
// organisations have sent.
func (a *App) keepBytes(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-time.After(bytesEvery):
		case <-ctx.Done():
			ended = true
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyUseTimeout)
		if err := a.quota.FlushBytes(last); err != nil {
			a.log.Warn("cannot record the bytes that organisations sent; trying again", "error", err)
		}
		cancel()
	}
}
