package sqlstore

import (
	"context"

	"landfall"
)

// Pack returns one version of a pack.
func (v *view) Pack(ctx context.Context, code string, version int) (landfall.Pack, error) {
	found, err := v.packs(ctx, ` WHERE code = $1 AND version = $2`, code, version)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Packs returns every version of every pack.
func (v *view) Packs(ctx context.Context) ([]landfall.Pack, error) {
	return v.packs(ctx, ` ORDER BY code, version`)
}

// packs returns the packs that a condition selects.
func (v *view) packs(ctx context.Context, which string, args ...any) ([]landfall.Pack, error) {
	return collect(ctx, v.txSession, func(scan scanner, found *landfall.Pack) error {
		var created int64
		err := scan(&found.Code, &found.Version, &found.Text, &created)
		found.CreatedAt = moment(created)
		return err
	}, `SELECT code, version, text, created_at FROM pack`+which, args...)
}

// AddPack stores a version of a pack.
func (t *tx) AddPack(ctx context.Context, added landfall.Pack) error {
	return orIfUnchanged(landfall.ErrExists)(t.exec(ctx, `INSERT INTO pack (code, version, text, created_at) VALUES ($1, $2, $3, {now})
		ON CONFLICT (code, version) DO NOTHING`, added.Code, added.Version, added.Text))
}
