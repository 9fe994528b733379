package auth

import (
	"context"
	"sync"

	"landfall"
)

// keyUses collects which keys were used since the last save.
type keyUses struct{ keys sync.Map }

// note records a key. It is cheap when the key was recorded already.
func (u *keyUses) note(key string) {
	if _, noted := u.keys.Load(key); !noted {
		u.keys.Store(key, nil)
	}
}

// take returns the recorded keys and clears them.
func (u *keyUses) take() (keys []string) {
	u.keys.Range(func(key, _ any) bool {
		u.keys.Delete(key)
		if text, is := key.(string); is {
			keys = append(keys, text)
		}
		return true
	})
	return keys
}

// SaveKeyUses stores which keys were used since the last call. Called once a
// minute, it keeps the times exact to about a minute with one write.
func (g *Authenticator) SaveKeyUses(ctx context.Context) error {
	keys := g.uses.take()
	if len(keys) == 0 {
		return nil
	}
	err := g.store.Update(ctx, func(tx landfall.Tx) error { return tx.MarkKeysUsed(ctx, keys...) })
	if err != nil {
		for _, key := range keys {
			g.uses.note(key) // for the next time
		}
	}
	return err
}
