package operate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/service/auth"
)

// KeyRequest describes the key to create.
type KeyRequest struct {
	Organisation string
	Role         landfall.Role
	Life         time.Duration // 0: the key does not expire
}

// CreateKey creates an API key. Its text is shown only once, because only a hash
// is stored.
func (o *Operator) CreateKey(ctx context.Context, request KeyRequest) (landfall.APIKey, auth.Secret, error) {
	if !slices.Contains(landfall.Roles, request.Role) {
		return landfall.APIKey{}, auth.Secret{}, invalid("role", rules.CodeInvalidChoice,
			"Role %q is not known; use importer (reads and writes), viewer (reads statuses and lists) or reader (also reads whole accounts).", string(request.Role))
	}
	if request.Life < 0 {
		return landfall.APIKey{}, auth.Secret{}, invalid("expires", rules.CodeOutOfRange,
			"A key cannot expire in the past. Omit the expiry for a key that does not expire.")
	}
	key, text := auth.NewKey(request.Organisation, request.Role, o.end(request.Life))
	err := o.change(ctx, "key.create", key.ID, func(tx landfall.Tx) (string, error) {
		if _, err := tx.Organisation(ctx, request.Organisation); err != nil {
			return "", organisationError(ctx, tx, request.Organisation, err)
		}
		return describe(key), tx.CreateKey(ctx, key)
	})
	if err != nil {
		return landfall.APIKey{}, auth.Secret{}, err
	}
	return key, text, nil
}

// Keys returns the keys of an organisation, oldest first. With "" it returns the
// keys of all organisations.
func (o *Operator) Keys(ctx context.Context, organisation string) ([]landfall.APIKey, error) {
	var keys []landfall.APIKey
	err := o.view(ctx, "key.list", func(view landfall.View) error {
		if organisation != "" {
			if _, err := view.Organisation(ctx, organisation); err != nil {
				return organisationError(ctx, view, organisation, err)
			}
		}
		var err error
		keys, err = view.Keys(ctx, organisation)
		return err
	})
	return keys, err
}

// RevokeKey permanently ends a key and every token issued for it.
func (o *Operator) RevokeKey(ctx context.Context, id string) error {
	return o.change(ctx, "key.revoke", id, func(tx landfall.Tx) (string, error) {
		return "", replaceError(tx.RevokeKey(ctx, id), landfall.ErrNotFound, noKey(id))
	})
}

// RotateKey creates a new key with the organisation, role and lifetime of an old
// one. The old key stays valid for the overlap, so that its users can switch
// without a failed request.
func (o *Operator) RotateKey(ctx context.Context, id string, overlap time.Duration) (landfall.APIKey, auth.Secret, error) {
	if overlap < 0 {
		return landfall.APIKey{}, auth.Secret{}, invalid("overlap", rules.CodeOutOfRange,
			"The overlap cannot be negative; 0 ends the old key at once.")
	}
	var key landfall.APIKey
	var text auth.Secret
	err := o.change(ctx, "key.rotate", id, func(tx landfall.Tx) (string, error) {
		old, err := tx.Key(ctx, id)
		now := o.clock() // only after the key is locked: another rotation may have ended it
		if err != nil {
			return "", replaceError(err, landfall.ErrNotFound, noKey(id))
		}
		if !old.RevokedAt.IsZero() || !old.ExpiresAt.IsZero() && !now.Before(old.ExpiresAt) {
			return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
				"Key %s is revoked or has expired. Create a new one with: key create %q", id, old.Organisation))
		}
		var life time.Duration
		if !old.ExpiresAt.IsZero() {
			life = old.ExpiresAt.Sub(old.CreatedAt)
		}
		key, text = auth.NewKey(old.Organisation, old.Role, o.end(life))
		if err := tx.CreateKey(ctx, key); err != nil {
			return "", err
		}
		// Do not extend an old key that expires before the overlap ends.
		if end := now.Add(overlap); old.ExpiresAt.IsZero() || end.Before(old.ExpiresAt) {
			if err := tx.ExpireKey(ctx, id, end); err != nil {
				return "", err
			}
		}
		created := o.entry("key.create", key.ID, describe(key)+", in place of "+id)
		return fmt.Sprintf("replaced by %s, overlap %s", key.ID, overlap), tx.AppendAudit(ctx, created)
	})
	if err != nil {
		return landfall.APIKey{}, auth.Secret{}, err
	}
	return key, text, nil
}

// end returns when a key created now expires. A life of 0 means never.
func (o *Operator) end(life time.Duration) time.Time {
	if life == 0 {
		return time.Time{}
	}
	return o.clock().Add(life).UTC()
}

// noKey suggests no similar id: ids are random, and a guess could name a key of
// another organisation.
func noKey(id string) *landfall.Error {
	return notFound(landfall.CodeNotFound, "There is no key %q. List the keys with: key list", id)
}

// describe describes a key in one line for the audit, without its secret.
func describe(key landfall.APIKey) string {
	ends := "never"
	if !key.ExpiresAt.IsZero() {
		ends = key.ExpiresAt.UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("organisation=%q, role=%s, expires=%s", key.Organisation, key.Role, ends)
}
