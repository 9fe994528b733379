package sqlstore

import (
	"context"
	"time"

	"landfall"
)

const passkeyColumns = `SELECT operator, name, id, credential, created_at, used_at FROM passkey`

func readPasskey(scan scanner, passkey *landfall.Passkey) error {
	return scan(&passkey.Operator, &passkey.Name, &passkey.ID, &passkey.Credential, instantInto{&passkey.CreatedAt}, instantInto{&passkey.UsedAt})
}

// Passkeys returns the passkeys of an operator.
func (v *view) Passkeys(ctx context.Context, operator string) ([]landfall.Passkey, error) {
	return collect(ctx, v.txSession, readPasskey, passkeyColumns+` WHERE operator = $1 ORDER BY created_at, name`, operator)
}

// Passkey returns the passkey with an ID.
func (v *view) Passkey(ctx context.Context, id []byte) (landfall.Passkey, error) {
	found, err := collect(ctx, v.txSession, readPasskey, passkeyColumns+` WHERE id = $1`, id)
	return firstOf(found, err, landfall.ErrNotFound)
}

// AddPasskey stores a new passkey.
func (t *tx) AddPasskey(ctx context.Context, passkey landfall.Passkey) error {
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO passkey (operator, name, id, credential, created_at)
		VALUES ($1, $2, $3, $4, {now}) ON CONFLICT DO NOTHING`, passkey.Operator, passkey.Name, passkey.ID, passkey.Credential))
}

// UsePasskey records that a passkey was used.
func (t *tx) UsePasskey(ctx context.Context, id []byte, credential string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE passkey SET credential = $2, used_at = {now} WHERE id = $1`, id, credential))
}

// RemovePasskey removes a passkey of an operator.
func (t *tx) RemovePasskey(ctx context.Context, operator, name string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM passkey WHERE operator = $1 AND name = $2`, operator, name))
}

// RemovePasskeys removes all passkeys of an operator.
func (t *tx) RemovePasskeys(ctx context.Context, operator string) error {
	_, err := t.exec(ctx, `DELETE FROM passkey WHERE operator = $1`, operator)
	return err
}

// OfferChallenge stores a challenge and forgets old ones.
func (t *tx) OfferChallenge(ctx context.Context, challenge landfall.PasskeyChallenge, length time.Duration, most int) error {
	if _, err := t.exec(ctx, `DELETE FROM passkey_challenge WHERE ends_at < (SELECT {now})`); err != nil {
		return err
	}
	// The limit of the inner query only makes the offset possible.
	if _, err := t.exec(ctx, `DELETE FROM passkey_challenge WHERE hash IN
		(SELECT hash FROM passkey_challenge ORDER BY ends_at DESC, hash LIMIT 1000 OFFSET $1)`, int64(most-1)); err != nil {
		return err
	}
	_, err := t.exec(ctx, `INSERT INTO passkey_challenge (hash, session, data, ends_at) VALUES ($1, $2, $3, {now} + $4)`,
		challenge.Hash[:], challenge.Session, challenge.Data, length.Microseconds())
	return err
}

// TakeChallenge deletes a challenge and returns its data.
func (t *tx) TakeChallenge(ctx context.Context, hash [32]byte, session string) (string, error) {
	found, err := collect(ctx, t.txSession, func(scan scanner, data *string) error { return scan(data) },
		`DELETE FROM passkey_challenge WHERE hash = $1 AND session = $2 AND ends_at > {now} RETURNING data`, hash[:], session)
	return firstOf(found, err, landfall.ErrNotFound)
}
