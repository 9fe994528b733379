package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"landfall"
	"landfall/internal/lib/admission"
	"landfall/internal/lib/limits"
)

// Ended tokens are deleted a little later, so that a replica with a slow clock
// still finds them, and in batches, so that no caller waits for thousands of
// deletes.
const (
	sweepBatch = 5000
)

// Options are the settings of an Issuer; zero values mean the defaults.
type Options struct {
	AccessLife  time.Duration    // 60 minutes
	RefreshLife time.Duration    // 7 days
	FamilyLife  time.Duration    // from the login, however often it is refreshed; 30 days
	Limits      Limits           // of failed attempts
	Clock       func() time.Time // time.Now
	Watch       func(Login)      // called for every attempt; must not block
}

// Grant is the tokens obtained with a key or a refresh token.
type Grant struct {
	Token            Secret
	ExpiresIn        time.Duration
	RefreshToken     Secret
	RefreshExpiresIn time.Duration
}

// Issuer exchanges API keys and refresh tokens for service tokens.
type Issuer struct {
	store    landfall.Transactor
	options  Options
	throttle *failureLimiter
	tokens   *admission.Buckets // granted, by organisation
}

// NewIssuer returns an issuer over a store.
func NewIssuer(store landfall.Transactor, options Options) *Issuer {
	setDefault(&options.AccessLife, limits.AccessToken)
	setDefault(&options.RefreshLife, limits.RefreshToken)
	setDefault(&options.FamilyLife, limits.Login)
	if options.Clock == nil {
		options.Clock = time.Now
	}
	if options.Watch == nil {
		options.Watch = func(Login) {}
	}
	throttle := newFailureLimiter(options.Limits)
	return &Issuer{store: store, options: options, throttle: throttle, tokens: admission.NewBuckets(throttle.limits.Remembered)}
}

// Issue returns a grant for an API key. Source is the caller's address. Its
// failures are counted; over the limit an invalid key is a TooMany error. All
// other failures of the caller are the same error.
func (i *Issuer) Issue(ctx context.Context, source, apiKey string) (grant Grant, err error) {
	now := i.options.Clock()
	id, ok := parseKey(apiKey)
	login := Login{With: "api_key", KeyID: id, Source: source}
	if !ok {
		login.KeyID = ""
	}
	defer func() { i.report(login, err) }()
	if !ok {
		return Grant{}, i.refuse(source, login.KeyID, now)
	}
	organisation, ok, err := i.verify(ctx, id, apiKey, now)
	if err != nil {
		return Grant{}, landfall.UserError("looking up an API key", err)
	}
	if !ok {
		return Grant{}, i.refuse(source, login.KeyID, now)
	}
	login.Organisation = organisation.Name
	if err := i.checkTokenQuota(organisation, now); err != nil {
		return Grant{}, err
	}
	family := i.newFamily(now)
	grant, tokens := i.newGrant(id, family, now)
	err = i.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.StartFamily(ctx, family); err != nil {
			return err
		}
		if err := tx.SaveTokens(ctx, tokens...); err != nil {
			return err
		}
		return tx.MarkKeysUsed(ctx, id)
	})
	if errors.Is(err, landfall.ErrNotFound) { // the key was deleted in between
		return Grant{}, i.refuse(source, login.KeyID, now)
	}
	if err != nil {
		return Grant{}, landfall.UserError("storing service tokens", err)
	}
	return grant, nil
}

// verify compares a key's text with what is stored under its id. An unknown id
// runs the same queries and the same comparison as a wrong secret, so that the
// time taken does not reveal which ids exist.
func (i *Issuer) verify(ctx context.Context, id, text string, now time.Time) (landfall.Organisation, bool, error) {
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
		return landfall.Organisation{}, false, err
	}
	shown := digest(text)
	same := subtle.ConstantTimeCompare(shown[:], key.SecretHash[:]) == 1
	return organisation, same && known && valid(key, organisation, now), nil
}

// checkTokenQuota checks the quota of tokens per minute. Only granted tokens
// count, so that others cannot use up an organisation's quota.
func (i *Issuer) checkTokenQuota(organisation landfall.Organisation, now time.Time) error {
	limit := organisation.Quotas.TokensPerMinute
	if limit <= 0 {
		return nil
	}
	if wait := i.tokens.Take(organisation.Name, admission.Per(int(limit), time.Minute), now); wait > 0 {
		return landfall.OverQuota(landfall.QuotaTokens, limit, wait)
	}
	return nil
}

// newGrant creates the two tokens of a grant and their rows. Neither outlives its
// family.
func (i *Issuer) newGrant(keyID string, family landfall.TokenFamily, now time.Time) (Grant, []landfall.ServiceToken) {
	left := family.EndsAt.Sub(now)
	grant := Grant{ExpiresIn: min(i.options.AccessLife, left), RefreshExpiresIn: min(i.options.RefreshLife, left)}
	var access, refresh landfall.ServiceToken
	access, grant.Token = newToken(landfall.AccessToken, keyID, now.Add(grant.ExpiresIn))
	refresh, grant.RefreshToken = newToken(landfall.RefreshToken, keyID, now.Add(grant.RefreshExpiresIn))
	access.Family, refresh.Family = family, family
	return grant, []landfall.ServiceToken{access, refresh}
}

// refuse counts a failure and returns the error for it.
func (i *Issuer) refuse(source, keyID string, now time.Time) error {
	if wait := i.throttle.fail(source, keyID, now); wait > 0 {
		return throttled(wait)
	}
	return refused()
}

// Sweep deletes ended tokens and families, and returns how many. Spent refresh
// tokens stay until their end, so that reuse is detected.
func (i *Issuer) Sweep(ctx context.Context) (int, error) {
	before, dropped := i.options.Clock().Add(-limits.TokenGrace), 0
	for _, drop := range []func(landfall.Tx) (int, error){
		func(tx landfall.Tx) (int, error) { return tx.DropExpiredTokens(ctx, before, sweepBatch) },
		func(tx landfall.Tx) (int, error) { return tx.DropEndedFamilies(ctx, before, sweepBatch) },
	} {
		for count := sweepBatch; count == sweepBatch; dropped += count {
			if err := i.store.Update(ctx, func(tx landfall.Tx) (err error) {
				count, err = drop(tx)
				return err
			}); err != nil {
				return dropped, err
			}
		}
	}
	return dropped, nil
}
