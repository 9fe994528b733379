package sqlstore

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"landfall"
)

// Organisation returns an organisation by its name.
func (v *view) Organisation(ctx context.Context, name string) (landfall.Organisation, error) {
	found, err := v.organisations(ctx, `SELECT `+organisationColumns+` FROM organisation o WHERE o.name = $1`, name)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Organisations returns all organisations, sorted by name.
func (v *view) Organisations(ctx context.Context) ([]landfall.Organisation, error) {
	return v.organisations(ctx, `SELECT `+organisationColumns+` FROM organisation o ORDER BY o.name`)
}

// organisations runs the queries that return organisations, so that all of them
// read the same columns.
func (v *view) organisations(ctx context.Context, text string, args ...any) ([]landfall.Organisation, error) {
	return collect(ctx, v.txSession, func(scan scanner, o *landfall.Organisation) error {
		var created int64
		err := scan(append(organisationTargets(o), &created)...)
		o.CreatedAt = moment(created)
		return err
	}, text, args...)
}

// CreateOrganisation adds an organisation with the default quotas.
func (t *tx) CreateOrganisation(ctx context.Context, name string) error {
	quotas := landfall.DefaultQuotas()
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO organisation (name, disabled, `+quotaColumns+`, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, {now}) ON CONFLICT (name) DO NOTHING`,
		name, false, quotas.RequestsPerSecond, quotas.BytesPerDay, quotas.RevisionsPerAccount,
		quotas.TokensPerMinute, quotas.ConcurrentCreations))
}

// SetOrganisationDisabled disables or enables an organisation.
func (t *tx) SetOrganisationDisabled(ctx context.Context, name string, disabled bool) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx,
		`UPDATE organisation SET disabled = $2 WHERE name = $1`, name, disabled))
}

// keyColumns lists the columns in the order of storedKey.columns.
const keyColumns = `k.id, k.organisation, k.role, k.secret_hash, k.created_at, k.expires_at, k.revoked_at, k.used_at`

// storedKey is the scan target for the columns of an API key.
type storedKey struct {
	secret                 []byte
	created                int64
	expires, revoked, used sql.NullInt64
}

// columns returns the scan destinations for a row.
func (kept *storedKey) columns(key *landfall.APIKey) []any {
	return []any{&key.ID, &key.Organisation, &key.Role, &kept.secret, &kept.created, &kept.expires, &kept.revoked, &kept.used}
}

// fill converts the scanned columns and sets the fields of key.
func (kept *storedKey) fill(key *landfall.APIKey) {
	key.SecretHash, key.CreatedAt = hashOf(kept.secret), moment(kept.created)
	key.ExpiresAt, key.RevokedAt, key.UsedAt = instant(kept.expires), instant(kept.revoked), instant(kept.used)
}

// Key returns an API key by its public id.
func (v *view) Key(ctx context.Context, id string) (landfall.APIKey, error) {
	found, err := v.keys(ctx, `SELECT `+keyColumns+` FROM api_key k WHERE k.id = $1`, id)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Keys returns the keys of an organisation, or of all organisations for "",
// oldest first.
func (v *view) Keys(ctx context.Context, organisation string) ([]landfall.APIKey, error) {
	return v.keys(ctx, `SELECT `+keyColumns+` FROM api_key k
		WHERE k.organisation = $1 OR $1 = '' ORDER BY k.created_at, k.id`, organisation)
}

// keys runs the queries that return API keys.
func (v *view) keys(ctx context.Context, text string, args ...any) ([]landfall.APIKey, error) {
	return collect(ctx, v.txSession, func(scan scanner, key *landfall.APIKey) error {
		var kept storedKey
		err := scan(kept.columns(key)...)
		kept.fill(key)
		return err
	}, text, args...)
}

// CreateKey adds an API key.
func (t *tx) CreateKey(ctx context.Context, key landfall.APIKey) error {
	if _, err := t.Organisation(ctx, key.Organisation); err != nil {
		return err
	}
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO api_key
			(id, organisation, role, secret_hash, created_at, expires_at, revoked_at)
		VALUES ($1, $2, $3, $4, {now}, $5, $6) ON CONFLICT (id) DO NOTHING`,
		key.ID, key.Organisation, string(key.Role), key.SecretHash[:], microsArg(key.ExpiresAt), microsArg(key.RevokedAt)))
}

// RevokeKey marks a key as revoked. If it is revoked already, the first time is
// kept.
func (t *tx) RevokeKey(ctx context.Context, id string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx,
		`UPDATE api_key SET revoked_at = coalesce(revoked_at, {now}) WHERE id = $1`, id))
}

// MarkKeysUsed records that keys are in use now.
func (t *tx) MarkKeysUsed(ctx context.Context, ids ...string) error {
	slices.Sort(ids) // the same order in all transactions prevents deadlocks
	for _, id := range ids {
		if _, err := t.exec(ctx, `UPDATE api_key SET used_at = {now}
			WHERE id = $1 AND (used_at IS NULL OR used_at < {now} - 50000000)`, id); err != nil {
			return err
		}
	}
	return nil
}

// ExpireKey makes a key expire earlier; it never extends it.
func (t *tx) ExpireKey(ctx context.Context, id string, at time.Time) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE api_key
		SET expires_at = CASE WHEN expires_at < $2 THEN expires_at ELSE $2 END WHERE id = $1`, id, at.UnixMicro()))
}

// Token returns a service token by its hash, with its key and organisation.
func (v *view) Token(ctx context.Context, hash [32]byte) (landfall.ServiceToken, landfall.APIKey, landfall.Organisation, error) {
	token := landfall.ServiceToken{Hash: hash}
	var key landfall.APIKey
	var organisation landfall.Organisation
	var kept storedKey
	var expires, created int64
	var spent sql.NullInt64
	var family storedFamily
	columns := append([]any{&token.Use, &token.KeyID, &expires, &spent, &family.id, &family.ends, &family.ended}, kept.columns(&key)...)
	err := v.one(ctx, `SELECT t.purpose, t.key_id, t.expires_at, t.spent_at, t.family, f.ends_at, f.ended_at, `+keyColumns+`,
			`+organisationColumns+`
		FROM service_token t JOIN api_key k ON k.id = t.key_id JOIN organisation o ON o.name = k.organisation
			LEFT JOIN token_family f ON f.id = t.family
		WHERE t.hash = $1`, []any{hash[:]}, append(append(columns, organisationTargets(&organisation)...), &created))
	if err != nil {
		return landfall.ServiceToken{}, landfall.APIKey{}, landfall.Organisation{}, err
	}
	kept.fill(&key)
	token.ExpiresAt, token.SpentAt, token.Family = moment(expires), instant(spent), family.family()
	organisation.CreatedAt = moment(created)
	return token, key, organisation, nil
}

// SaveTokens adds tokens to an existing key.
func (t *tx) SaveTokens(ctx context.Context, tokens ...landfall.ServiceToken) error {
	for _, token := range tokens {
		err := orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `INSERT INTO service_token
				(hash, purpose, key_id, expires_at, spent_at, family)
			SELECT $1, $2, k.id, $4, $5, $6 FROM api_key k WHERE k.id = $3`,
			token.Hash[:], string(token.Use), token.KeyID, token.ExpiresAt.UnixMicro(), microsArg(token.SpentAt), familyArg(token.Family.ID)))
		if err != nil {
			return err
		}
	}
	return nil
}

// SpendToken marks a refresh token as used.
func (t *tx) SpendToken(ctx context.Context, hash [32]byte) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE service_token SET spent_at = {now}
		WHERE hash = $1 AND purpose = 'refresh' AND spent_at IS NULL AND expires_at > {now}
			AND EXISTS (SELECT 1 FROM api_key k WHERE k.id = key_id AND k.revoked_at IS NULL)
			AND NOT EXISTS (SELECT 1 FROM token_family f WHERE f.id = family AND f.ended_at IS NOT NULL)`, hash[:]))
}

// DropExpiredTokens deletes tokens that expired before an instant, oldest
// first, up to a limit.
func (t *tx) DropExpiredTokens(ctx context.Context, before time.Time, limit int) (int, error) {
	count, err := t.exec(ctx, `DELETE FROM service_token WHERE hash IN
		(SELECT hash FROM service_token WHERE expires_at < $1 ORDER BY expires_at LIMIT $2)`, before.UnixMicro(), int64(limit))
	return int(count), err
}
