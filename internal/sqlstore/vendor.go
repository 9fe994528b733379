package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"landfall"
)

// Vendor gives one by its code.
func (v *view) Vendor(ctx context.Context, code string) (landfall.Vendor, error) {
	found, err := v.vendors(ctx, ` WHERE code = $1`, code)
	return first(found, err, landfall.ErrNotFound)
}

// Vendors gives all, by code.
func (v *view) Vendors(ctx context.Context) ([]landfall.Vendor, error) {
	return v.vendors(ctx, ` ORDER BY code`)
}

func (v *view) vendors(ctx context.Context, which string, args ...any) ([]landfall.Vendor, error) {
	return collect(ctx, v.session, func(scan scanner, vendor *landfall.Vendor) error {
		var networks, settings []byte
		var created int64
		err := scan(&vendor.Code, &vendor.Adapter, &vendor.BaseURL, &vendor.SecretEnv, &networks, &settings, &created)
		if err != nil {
			return err
		}
		vendor.CreatedAt = moment(created)
		return errors.Join(json.Unmarshal(networks, &vendor.Networks), json.Unmarshal(settings, &vendor.Settings))
	}, `SELECT code, adapter, base_url, secret_env, networks, settings, created_at FROM vendor`+which, args...)
}

// SaveVendor keeps a vendor, or replaces the one with its code.
func (t *tx) SaveVendor(ctx context.Context, vendor landfall.Vendor) error {
	networks, err := json.Marshal(vendor.Networks)
	if err != nil {
		return err
	}
	settings, err := json.Marshal(vendor.Settings)
	if err != nil {
		return err
	}
	_, err = t.exec(ctx, `INSERT INTO vendor (code, adapter, base_url, secret_env, networks, settings, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, {now})
		ON CONFLICT (code) DO UPDATE SET adapter = excluded.adapter, base_url = excluded.base_url,
			secret_env = excluded.secret_env, networks = excluded.networks, settings = excluded.settings`,
		vendor.Code, vendor.Adapter, vendor.BaseURL, vendor.SecretEnv, string(networks), string(settings))
	return err
}

// RemoveVendor forgets a vendor.
func (t *tx) RemoveVendor(ctx context.Context, code string) error {
	return changed(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM vendor WHERE code = $1`, code))
}
