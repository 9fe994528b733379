package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"landfall"
)

// sweepGrace keeps ended tokens a little longer, so that a replica with a slow
// clock does not meet a token that is gone while it still believes in it.
const sweepGrace = time.Hour

// sweepBatch bounds what one transaction forgets, since others wait for it.
const sweepBatch = 2000

// Options are the settings of an Issuer; zero values mean the defaults.
type Options struct {
	AccessLife  time.Duration    // 60 minutes
	RefreshLife time.Duration    // 7 days
	Limits      Limits           // of failed attempts
	Clock       func() time.Time // time.Now
}

// Grant is what a key or a refresh token buys.
type Grant struct {
	Token            Secret
	ExpiresIn        time.Duration
	RefreshToken     Secret
	RefreshExpiresIn time.Duration
}

// Issuer exchanges API keys and refresh tokens for service tokens.
type Issuer struct {
	store    landfall.Store
	options  Options
	throttle *throttle
}

// NewIssuer gives an issuer over a store.
func NewIssuer(store landfall.Store, options Options) *Issuer {
	fill(&options.AccessLife, time.Hour)
	fill(&options.RefreshLife, 7*24*time.Hour)
	if options.Clock == nil {
		options.Clock = time.Now
	}
	return &Issuer{store: store, options: options, throttle: newThrottle(options.Limits)}
}

// Issue gives a grant for an API key. The source is the caller's address: its
// failures are counted, and over the limit the answer to a bad key becomes a
// TooMany error. All other failures of the caller are one and the same error.
func (i *Issuer) Issue(ctx context.Context, source, apiKey string) (Grant, error) {
	now := i.options.Clock()
	id, ok := parseKey(apiKey)
	if !ok {
		return Grant{}, i.refuse(source, "", now)
	}
	ok, err := i.verify(ctx, id, apiKey, now)
	if err != nil {
		return Grant{}, landfall.Told("looking up an API key", err)
	}
	if !ok {
		return Grant{}, i.refuse(source, id, now)
	}
	grant, tokens := i.mint(id, now)
	err = i.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.SaveTokens(ctx, tokens...); err != nil {
			return err
		}
		return tx.UseKeys(ctx, id)
	})
	if errors.Is(err, landfall.ErrNotFound) { // the key went away in between
		return Grant{}, i.refuse(source, id, now)
	}
	if err != nil {
		return Grant{}, landfall.Told("keeping service tokens", err)
	}
	return grant, nil
}

// verify compares a key's text with what is stored under its id. An unknown id
// runs the same queries and the same comparison as a wrong secret does, so
// that the time taken does not tell which ids exist.
func (i *Issuer) verify(ctx context.Context, id, text string, now time.Time) (bool, error) {
	var key landfall.APIKey
	var organisation landfall.Organisation
	known := true
	err := i.store.View(ctx, func(view landfall.View) error {
		var err error
		key, err = view.Key(ctx, id)
		if err != nil && !errors.Is(err, landfall.ErrNotFound) {
			return err
		}
		organisation, err = view.Organisation(ctx, key.Organisation)
		if errors.Is(err, landfall.ErrNotFound) {
			known = false
			return nil
		}
		return err
	})
	if err != nil {
		return false, err
	}
	shown := digest(text)
	same := subtle.ConstantTimeCompare(shown[:], key.SecretHash[:]) == 1
	return same && known && alive(key, organisation, now), nil
}

// Refresh gives a new grant for a refresh token, which is good once: of many
// callers showing it at the same time exactly one gets a grant.
//
// A spent token shown again fails and ends nothing else. The usual reason is a
// retry after a lost answer, and the holder has the API key to begin again; a
// stolen credential is answered by revoking its key, which ends every token.
func (i *Issuer) Refresh(ctx context.Context, source, refreshToken string) (Grant, error) {
	now := i.options.Clock()
	if !isToken(landfall.RefreshToken, refreshToken) {
		return Grant{}, i.refuse(source, "", now)
	}
	hash := digest(refreshToken)
	keyID, err := i.refreshable(ctx, hash, now)
	if errors.Is(err, landfall.ErrNotFound) {
		return Grant{}, i.refuse(source, "", now)
	}
	if err != nil {
		return Grant{}, landfall.Told("looking up a refresh token", err)
	}
	grant, tokens := i.mint(keyID, now)
	err = i.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.SpendToken(ctx, hash); err != nil {
			return err
		}
		return tx.SaveTokens(ctx, tokens...)
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return Grant{}, i.refuse(source, "", now)
	}
	if err != nil {
		return Grant{}, landfall.Told("spending a refresh token", err)
	}
	return grant, nil
}

// refreshable names the key behind a refresh token that may still be used, or
// ErrNotFound. Looking before writing keeps guesses away from the writer.
func (i *Issuer) refreshable(ctx context.Context, hash [32]byte, now time.Time) (string, error) {
	var keyID string
	err := i.store.View(ctx, func(view landfall.View) error {
		token, key, organisation, err := view.Token(ctx, hash)
		if err != nil {
			return err
		}
		if token.Use != landfall.RefreshToken || !token.SpentAt.IsZero() ||
			!now.Before(token.ExpiresAt) || !alive(key, organisation, now) {
			return landfall.ErrNotFound
		}
		keyID = key.ID
		return nil
	})
	return keyID, err
}

// mint makes the two tokens of a grant and the rows to keep them by.
func (i *Issuer) mint(keyID string, now time.Time) (Grant, []landfall.ServiceToken) {
	access, accessText := newToken(landfall.AccessToken, keyID, now.Add(i.options.AccessLife))
	refresh, refreshText := newToken(landfall.RefreshToken, keyID, now.Add(i.options.RefreshLife))
	return Grant{
		Token: accessText, ExpiresIn: i.options.AccessLife,
		RefreshToken: refreshText, RefreshExpiresIn: i.options.RefreshLife,
	}, []landfall.ServiceToken{access, refresh}
}

// refuse counts a failure and gives its answer.
func (i *Issuer) refuse(source, keyID string, now time.Time) error {
	if wait := i.throttle.fail(source, keyID, now); wait > 0 {
		return throttled(wait)
	}
	return refused()
}

// Sweep forgets tokens that ended, and says how many. Spent refresh tokens
// stay until their end, so that showing one again is still recognised.
func (i *Issuer) Sweep(ctx context.Context) (int, error) {
	before, dropped := i.options.Clock().Add(-sweepGrace), 0
	for {
		var count int
		err := i.store.Update(ctx, func(tx landfall.Tx) (err error) {
			count, err = tx.DropExpiredTokens(ctx, before, sweepBatch)
			return err
		})
		if err != nil {
			return dropped, err
		}
		if dropped += count; count < sweepBatch {
			return dropped, nil
		}
	}
}
