package auth

import (
	"context"
	"sync"

	"landfall"
)

// keyUses remembers whose keys were shown since they were last written down. It
// holds one entry for each key at most.
type keyUses struct{ keys sync.Map }

// note costs next to nothing for a key that is noted already.
func (u *keyUses) note(key string) {
	if _, noted := u.keys.Load(key); !noted {
		u.keys.Store(key, nil)
	}
}

// take gives what was noted and begins anew.
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

// SaveKeyUses writes down which keys were used since it was called last. Called
// once a minute, it makes the times exact to about a minute, for one write.
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
