package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/cache"
)

// longestHeader is far above the longest header a client of ours would send.
const longestHeader = 256

// remembering is what nobody has a reason to change: how long an answer may be
// reused, how long one question may take, and how many are kept.
var remembering = cache.Limits{Life: 50 * time.Millisecond, Patience: 5 * time.Second, Size: 4096}

// Gate tells who shows a token. It is safe for concurrent use.
type Gate struct {
	store landfall.Transactor
	clock func() time.Time
	known *cache.Memo[[32]byte, pass]
	uses  uses
}

// NewGate gives a gate over a store; a nil clock means time.Now.
func NewGate(store landfall.Transactor, clock func() time.Time) *Gate {
	if clock == nil {
		clock = time.Now
	}
	return &Gate{store: store, clock: clock, known: cache.New[[32]byte, pass](remembering)}
}

// Identify names the holder of the token in the values of the Authorization
// header. It fails with a *landfall.Error: not_authenticated when nothing was
// shown, authentication_failed for everything that is not a living token, and
// service_unavailable when the database cannot be asked.
//
// Answers are reused for 50 ms, counted from before the database was asked, so
// a revoked key is refused by every replica long before anybody could notice.
func (g *Gate) Identify(ctx context.Context, header []string) (landfall.Principal, error) {
	text, err := bearer(header)
	if err != nil {
		return landfall.Principal{}, err
	}
	now := g.clock()
	hash := digest(text)
	found, err := g.known.Get(ctx, hash, now, func(ctx context.Context) (pass, error) {
		return g.look(ctx, hash)
	})
	if err != nil {
		return landfall.Principal{}, landfall.UserError("looking up a service token", err)
	}
	if !found.good || !before(now, found.until) {
		return landfall.Principal{}, refused()
	}
	g.uses.note(found.principal.KeyID)
	return found.principal, nil
}

// bearer takes the token out of the header's values. The scheme's name is
// compared without regard to case, as HTTP asks for.
func bearer(header []string) (string, error) {
	if len(header) == 0 || len(header) == 1 && strings.Trim(header[0], " \t") == "" {
		return "", missing()
	}
	if len(header) > 1 || len(header[0]) > longestHeader {
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

// pass is what a token stands for, and until when.
type pass struct {
	good      bool // false: nobody's token, or one that is good for nothing
	principal landfall.Principal
	until     time.Time // zero: no end
}

// look asks the store about a token. The ends are left to the caller's clock.
func (g *Gate) look(ctx context.Context, hash [32]byte) (pass, error) {
	var found pass
	err := g.store.View(ctx, func(view landfall.View) error {
		token, key, organisation, err := view.Token(ctx, hash)
		if err != nil {
			return err
		}
		if token.Use != landfall.AccessToken || !key.RevokedAt.IsZero() || organisation.Disabled || token.Family.Ended {
			return nil
		}
		found = pass{
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
		return pass{}, nil
	case err != nil:
		return pass{}, err
	}
	return found, nil
}
