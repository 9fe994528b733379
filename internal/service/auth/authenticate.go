package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/cache"
	"landfall/internal/lib/limits"
)

// maxHeaderLength is far above what any client sends.
const maxHeaderLength = 256

// tokenCacheLimits are how long an answer may be reused, how long a lookup may
// take, and how many answers are cached.
var tokenCacheLimits = cache.Limits{TTL: limits.KeyCache, LoadTimeout: limits.CacheLoad, Size: 4096}

// Authenticator identifies callers by their tokens. It is safe for concurrent use.
type Authenticator struct {
	store landfall.Transactor
	clock func() time.Time
	known *cache.Cache[[32]byte, cachedToken]
	uses  keyUses
}

// NewAuthenticator returns an authenticator over a store; a nil clock means
// time.Now.
func NewAuthenticator(store landfall.Transactor, clock func() time.Time) *Authenticator {
	if clock == nil {
		clock = time.Now
	}
	return &Authenticator{store: store, clock: clock, known: cache.New[[32]byte, cachedToken](tokenCacheLimits)}
}

// Identify returns the holder of the token in the values of the Authorization
// header. It fails with a *landfall.Error: not_authenticated when there is no
// token, authentication_failed when it is not valid, and service_unavailable when
// the database cannot be asked.
//
// Answers are reused for 50 ms, counted from before the database was asked, so
// every replica refuses a revoked key almost at once.
func (g *Authenticator) Identify(ctx context.Context, header []string) (landfall.Principal, error) {
	text, err := bearer(header)
	if err != nil {
		return landfall.Principal{}, err
	}
	now := g.clock()
	hash := digest(text)
	found, err := g.known.Get(ctx, hash, now, func(ctx context.Context) (cachedToken, error) {
		return g.lookUp(ctx, hash)
	})
	if err != nil {
		return landfall.Principal{}, landfall.UserError("looking up a service token", err)
	}
	if !found.good || !notEnded(now, found.until) {
		return landfall.Principal{}, refused()
	}
	g.uses.note(found.principal.KeyID)
	return found.principal, nil
}

// bearer returns the token in the header's values. The scheme is compared without
// regard to case, as HTTP requires.
func bearer(header []string) (string, error) {
	if len(header) == 0 || len(header) == 1 && strings.Trim(header[0], " \t") == "" {
		return "", missing()
	}
	if len(header) > 1 || len(header[0]) > maxHeaderLength {
		return "", refused()
	}
	text := strings.Trim(header[0], " \t")
	if scheme, rest, found := strings.Cut(text, " "); found {
		switch strings.ToLower(scheme) {
		case "token", "bearer", "jwt":
			text = strings.TrimLeft(rest, " ")
		default:
			return "", refused()
		}
	}
	if strings.HasPrefix(text, keyPrefix) {
		return "", keyShown()
	}
	if !isToken(landfall.AccessToken, text) {
		return "", refused()
	}
	return text, nil
}

// cachedToken is the principal that a token identifies, and when it expires.
type cachedToken struct {
	good      bool // false: an unknown or invalid token
	principal landfall.Principal
	until     time.Time // zero: no end
}

// lookUp reads a token from the store. The caller checks when it ends.
func (g *Authenticator) lookUp(ctx context.Context, hash [32]byte) (cachedToken, error) {
	var found cachedToken
	err := g.store.View(ctx, func(view landfall.View) error {
		token, key, organisation, err := view.Token(ctx, hash)
		if err != nil {
			return err
		}
		if token.Use != landfall.AccessToken || !key.RevokedAt.IsZero() || organisation.Disabled || token.Family.Ended {
			return nil
		}
		found = cachedToken{
			good: true,
			principal: landfall.Principal{
				Organisation: key.Organisation, KeyID: key.ID, Role: key.Role, Quotas: organisation.Quotas,
			},
			until: token.ExpiresAt,
		}
		if !key.ExpiresAt.IsZero() && key.ExpiresAt.Before(found.until) {
			found.until = key.ExpiresAt
		}
		return nil
	})
	switch {
	case errors.Is(err, landfall.ErrNotFound):
		return cachedToken{}, nil
	case err != nil:
		return cachedToken{}, err
	}
	return found, nil
}
