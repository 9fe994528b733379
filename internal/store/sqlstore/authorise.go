package sqlstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
)

const (
	// vouchedFor is how long a key that was found good is believed to be. A
	// revocation must be felt within ten seconds by whatever is under way.
	vouchedFor = limits.AuthorTrust
	// mostVouched bounds the memory; the operator makes the keys.
	mostVouched = 10_000
)

// keyCache remembers which keys were good a moment ago, as seen by a writing
// transaction. Asking about them in every batch would cost a statement more.
type keyCache struct {
	mu   sync.Mutex
	good map[string]time.Time // when it was asked
}

// doubtful gives those of the keys that must be asked about, each once.
func (v *keyCache) doubtful(keys []string, now time.Time) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ask []string
	for _, key := range keys {
		if key != "" && now.Sub(v.good[key]) >= vouchedFor && !slices.Contains(ask, key) {
			ask = append(ask, key)
		}
	}
	return ask
}

// vouch remembers that keys were good.
func (v *keyCache) vouch(keys []string, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.good == nil || len(v.good) > mostVouched {
		v.good = map[string]time.Time{}
	}
	for _, key := range keys {
		v.good[key] = now
	}
}

// revoked gives those of the keys that are good no more: revoked, ended, or of
// an organisation that was disabled.
func (t *tx) revoked(ctx context.Context, vouchers *keyCache, keys []string) ([]string, error) {
	now := time.Now()
	ask := vouchers.doubtful(keys, now)
	if len(ask) == 0 {
		return nil, nil
	}
	marks, args := make([]string, len(ask)), make([]any, len(ask))
	for i, key := range ask {
		marks[i], args[i] = "$"+strconv.Itoa(i+1), key
	}
	dead, err := collect(ctx, t.txSession, func(scan scanner, id *string) error { return scan(id) },
		`SELECT k.id FROM api_key k JOIN organisation o ON o.name = k.organisation
		WHERE k.id IN (`+strings.Join(marks, ", ")+`)
			AND (k.revoked_at IS NOT NULL OR k.expires_at <= {now} OR o.disabled = (1 = 1))`, args...)
	if err != nil {
		return nil, err
	}
	vouchers.vouch(slices.DeleteFunc(ask, func(key string) bool { return slices.Contains(dead, key) }), now)
	return dead, nil
}

// CheckAuthor asks whether an author may still write.
func (t *tx) CheckAuthor(ctx context.Context, author landfall.Author) error {
	// Each asks anew: nobody writes often enough this way to be remembered.
	dead, err := t.revoked(ctx, &keyCache{}, []string{author.KeyID})
	if err == nil && len(dead) > 0 {
		err = landfall.ErrRevoked
	}
	return err
}

// ifAuthorised runs a verb for those of a batch whose authors may still write. The
// others are told, and nothing is written for them.
func ifAuthorised[W, O any](
	vouchers *keyCache, author func(W) landfall.Author, run func(*tx, context.Context, []*pendingCall[W, O]) error,
) func(*tx, context.Context, []*pendingCall[W, O]) error {
	return func(t *tx, ctx context.Context, batch []*pendingCall[W, O]) error {
		keys := make([]string, len(batch))
		for i, one := range batch {
			keys[i] = author(one.wanted).KeyID
		}
		dead, err := t.revoked(ctx, vouchers, keys)
		if err != nil {
			return err
		}
		if len(dead) == 0 {
			return run(t, ctx, batch)
		}
		var alive []*pendingCall[W, O]
		for i, one := range batch {
			if slices.Contains(dead, keys[i]) {
				one.err = landfall.ErrRevoked
			} else {
				alive = append(alive, one)
			}
		}
		if len(alive) == 0 {
			return nil
		}
		return run(t, ctx, alive)
	}
}
