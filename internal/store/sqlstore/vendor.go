package sqlstore

import (
	"context"
	"encoding/json"
	"errors"

	"landfall"
)

// Vendor returns the vendor with a code.
func (v *view) Vendor(ctx context.Context, code string) (landfall.Vendor, error) {
	found, err := v.vendors(ctx, ` WHERE code = $1`, code)
	return firstOf(found, err, landfall.ErrNotFound)
}

// Vendors returns all vendors, sorted by code.
func (v *view) Vendors(ctx context.Context) ([]landfall.Vendor, error) {
	return v.vendors(ctx, ` ORDER BY code`)
}

// vendors returns the vendors that a condition selects.
func (v *view) vendors(ctx context.Context, which string, args ...any) ([]landfall.Vendor, error) {
	return collect(ctx, v.txSession, func(scan scanner, vendor *landfall.Vendor) error {
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

// GrantedVendor returns a vendor only if the supplier may use it.
func (v *view) GrantedVendor(ctx context.Context, supplier, code string) (landfall.Vendor, error) {
	found, err := v.vendors(ctx, ` WHERE vendor.code = $1 AND (granted_only = $3 OR EXISTS (
		SELECT 1 FROM vendor_grant g JOIN supplier s ON s.id = g.supplier_id WHERE g.vendor = vendor.code AND s.code = $2))`,
		code, supplier, false)
	return firstOf(found, err, landfall.ErrNotFound)
}

// VendorGrants returns which suppliers may use a vendor.
func (v *view) VendorGrants(ctx context.Context, code string) (landfall.VendorGrants, error) {
	var only bool
	if err := v.one(ctx, `SELECT granted_only FROM vendor WHERE code = $1`, []any{code}, []any{&only}); err != nil {
		return landfall.VendorGrants{}, err
	}
	suppliers, err := collect(ctx, v.txSession, func(scan scanner, supplier *string) error { return scan(supplier) },
		`SELECT s.code FROM vendor_grant g JOIN supplier s ON s.id = g.supplier_id WHERE g.vendor = $1 ORDER BY s.code`, code)
	return landfall.VendorGrants{AllSuppliers: !only, Suppliers: suppliers}, err
}

// SaveVendor stores a vendor, or replaces the one with its code.
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

// RemoveVendor deletes a vendor.
func (t *tx) RemoveVendor(ctx context.Context, code string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM vendor WHERE code = $1`, code))
}

// GrantVendor allows a supplier to use a vendor, and from then on only
// suppliers with a grant.
func (t *tx) GrantVendor(ctx context.Context, code, supplier string) error {
	if err := t.setGrantedOnly(ctx, code, true); err != nil {
		return err
	}
	count, err := t.exec(ctx, `INSERT INTO vendor_grant (vendor, supplier_id)
		SELECT v.code, s.id FROM vendor v, supplier s WHERE v.code = $1 AND s.code = $2
		ON CONFLICT (vendor, supplier_id) DO NOTHING`, code, supplier)
	if err != nil || count > 0 {
		return err
	}
	// Nothing was added: either the grant exists already or the supplier does
	// not.
	_, err = t.Supplier(ctx, supplier)
	return err
}

// UngrantVendor removes a grant.
func (t *tx) UngrantVendor(ctx context.Context, code, supplier string) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `DELETE FROM vendor_grant
		WHERE vendor = $1 AND supplier_id = (SELECT id FROM supplier WHERE code = $2)`, code, supplier))
}

// OpenVendor allows every supplier to use a vendor.
func (t *tx) OpenVendor(ctx context.Context, code string) error {
	if err := t.setGrantedOnly(ctx, code, false); err != nil {
		return err
	}
	_, err := t.exec(ctx, `DELETE FROM vendor_grant WHERE vendor = $1`, code)
	return err
}

// setGrantedOnly sets whether only suppliers with a grant may use a vendor.
func (t *tx) setGrantedOnly(ctx context.Context, code string, only bool) error {
	return orIfUnchanged(landfall.ErrNotFound)(t.exec(ctx, `UPDATE vendor SET granted_only = $2 WHERE code = $1`, code, only))
}
