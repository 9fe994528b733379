package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"time"

	"landfall"
)

// errReused means that a refresh token was used twice, so a copy of it exists. A
// client whose response was lost sends it again too; it got no tokens that could
// be lost, and can log in again with its API key.
var errReused = errors.New("a refresh token was used twice")

// Refresh returns a new grant for a refresh token, which works once: of many
// concurrent callers exactly one gets a grant. Using a spent token ends every token
// of its family, because the thief and the owner cannot be told apart.
func (i *Issuer) Refresh(ctx context.Context, source, refreshToken string) (grant Grant, err error) {
	now := i.options.Clock()
	login := Login{With: "refresh_token", Source: source}
	defer func() { i.report(login, err) }()
	if !isToken(landfall.RefreshToken, refreshToken) {
		return Grant{}, i.refuse(source, "", now)
	}
	hash := digest(refreshToken)
	token, organisation, err := i.refreshable(ctx, hash, now)
	login.KeyID, login.Organisation = token.KeyID, organisation.Name
	switch {
	case errors.Is(err, errReused):
		login.Reused = true
		if err := i.store.Update(ctx, func(tx landfall.Tx) error { return tx.EndFamily(ctx, token.Family.ID) }); err != nil {
			return Grant{}, landfall.UserError("ending a token family", err)
		}
		return Grant{}, i.refuse(source, "", now)
	case errors.Is(err, landfall.ErrNotFound):
		return Grant{}, i.refuse(source, "", now)
	case err != nil:
		return Grant{}, landfall.UserError("looking up a refresh token", err)
	}
	if err := i.checkTokenQuota(organisation, now); err != nil {
		return Grant{}, err
	}
	grant, tokens := i.newGrant(token.KeyID, token.Family, now)
	err = i.store.Update(ctx, func(tx landfall.Tx) error {
		if err := tx.SpendToken(ctx, hash); err != nil {
			return err
		}
		if err := tx.StartFamily(ctx, token.Family); err != nil {
			return err
		}
		return tx.SaveTokens(ctx, tokens...)
	})
	if errors.Is(err, landfall.ErrNotFound) {
		return Grant{}, i.refuse(source, "", now)
	}
	if err != nil {
		return Grant{}, landfall.UserError("spending a refresh token", err)
	}
	return grant, nil
}

// refreshable returns a refresh token that may still be used, ErrNotFound, or
// errReused. Reading first keeps guesses from causing writes.
func (i *Issuer) refreshable(ctx context.Context, hash [32]byte, now time.Time) (landfall.ServiceToken, landfall.Organisation, error) {
	var token landfall.ServiceToken
	var organisation landfall.Organisation
	err := i.store.View(ctx, func(view landfall.View) error {
		var key landfall.APIKey
		var err error
		token, key, organisation, err = view.Token(ctx, hash)
		switch {
		case err != nil:
			return err
		case token.Use != landfall.RefreshToken || token.Family.Ended ||
			!now.Before(token.ExpiresAt) || !valid(key, organisation, now):
			return landfall.ErrNotFound
		case !token.SpentAt.IsZero():
			return errReused
		}
		return nil
	})
	if err != nil && !errors.Is(err, errReused) {
		return landfall.ServiceToken{}, landfall.Organisation{}, err
	}
	if token.Family.ID == ([32]byte{}) {
		// A token without a family starts one, always the same.
		token.Family = i.newFamily(now)
		token.Family.ID = sha256.Sum256(hash[:])
	}
	return token, organisation, err
}

// newFamily returns the family of a new login.
func (i *Issuer) newFamily(now time.Time) landfall.TokenFamily {
	return landfall.TokenFamily{ID: digest(random(secretLength)), EndsAt: now.Add(i.options.FamilyLife)}
}
