package upkeep

import (
	"context"
	"log/slog"
	"time"

	"landfall/internal/lib/limits"
)

// KeyStore keeps a list of the encryption keys in use.
type KeyStore interface {
	// RecordKey lists the key that this server encrypts with, should it be missing.
	RecordKey(ctx context.Context) error
}

// keyRecorder keeps this server's key listed. 'landfall rekey' removes keys that nothing
// is encrypted with; a server that still encrypts with one of them must be noticed.
type keyRecorder struct {
	store KeyStore
	log   *slog.Logger
}

func (k *keyRecorder) step(ctx context.Context) time.Duration {
	if err := k.store.RecordKey(ctx); err != nil && ctx.Err() == nil {
		k.log.Warn("cannot check that the encryption key is on record", "error", err)
	}
	return limits.KeyWatch
}
