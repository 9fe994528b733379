package app

import (
	"context"
	"time"

	"landfall/internal/lib/limits"
)

// bytesEvery is how exactly the bytes of a day are counted over all servers.
const bytesEvery = limits.QuotaFlush

// keepBytes writes down now and then what organisations have sent, and once
// more at the end.
func (a *App) keepBytes(ctx context.Context) {
	for ended := false; !ended; {
		select {
		case <-time.After(bytesEvery):
		case <-ctx.Done():
			ended = true
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), keyUseTimeout)
		if err := a.quota.FlushBytes(last); err != nil {
			a.log.Warn("what organisations have sent is not written down yet", "error", err)
		}
		cancel()
	}
}
