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
	// keyCacheTime is how long a key is trusted after it was found valid. A
	// revocation must take effect within ten seconds, also for work in
	// progress.
	keyCacheTime = limits.AuthorTrust
	// maxCachedKeys bounds the memory. Only operators create keys, so there are
	// few.
	maxCachedKeys = 10_000
)

// keyCache remembers which keys were valid recently, as seen by a writing
// transaction. Checking them in every batch would cost an extra statement.
type keyCache struct {
	mu      sync.Mutex
	validAt map[string]time.Time // when the key was checked
}

// unchecked returns the keys that must be checked again, without duplicates.
func (v *keyCache) unchecked(keys []string, now time.Time) []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var ask []string
	for _, key := range keys {
		if key != "" && now.Sub(v.validAt[key]) >= keyCacheTime && !slices.Contains(ask, key) {
			ask = append(ask, key)
		}
	}
	return ask
}

// add records that keys were valid.
func (v *keyCache) add(keys []string, now time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.validAt == nil || len(v.validAt) > maxCachedKeys {
		v.validAt = map[string]time.Time{}
	}
	for _, key := range keys {
		v.validAt[key] = now
	}
}

// revoked returns the keys that are no longer valid: revoked, expired, or of a
// disabled organisation.
func (t *tx) revoked(ctx context.Context, cache *keyCache, keys []string) ([]string, error) {
	now := time.Now()
	ask := cache.unchecked(keys, now)
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
	cache.add(slices.DeleteFunc(ask, func(key string) bool { return slices.Contains(dead, key) }), now)
	return dead, nil
}

// CheckAuthor returns ErrRevoked if an author may no longer write.
func (t *tx) CheckAuthor(ctx context.Context, author landfall.Author) error {
	// Nothing is cached here: no author writes this way often enough to make it
	// worthwhile.
	dead, err := t.revoked(ctx, &keyCache{}, []string{author.KeyID})
	if err == nil && len(dead) > 0 {
		err = landfall.ErrRevoked
	}
	return err
}

// ifAuthorised runs a verb for the calls of a batch whose authors may still
// write. The other calls get ErrRevoked, and nothing is written for them.
func ifAuthorised[W, O any](
	cache *keyCache, author func(W) landfall.Author, work batchWork[W, O],
) batchWork[W, O] {
	return func(t *tx, ctx context.Context, batch []*pendingCall[W, O]) error {
		keys := make([]string, len(batch))
		for i, one := range batch {
			keys[i] = author(one.Wanted).KeyID
		}
		dead, err := t.revoked(ctx, cache, keys)
		if err != nil {
			return err
		}
		if len(dead) == 0 {
			return work(t, ctx, batch)
		}
		var alive []*pendingCall[W, O]
		for i, one := range batch {
			if slices.Contains(dead, keys[i]) {
				one.Err = landfall.ErrRevoked
			} else {
				alive = append(alive, one)
			}
		}
		if len(alive) == 0 {
			return nil
		}
		return work(t, ctx, alive)
	}
}
