package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/payvendor"
)

// SetVendor configures a payment vendor, or replaces the whole configuration
// of the one with its code. The audit names the settings and not their values:
// operators paste secrets into the wrong place.
func (o *Operator) SetVendor(ctx context.Context, vendor landfall.Vendor) error {
	if err := payvendor.Check(vendor); err != nil {
		return err
	}
	return o.change(ctx, "vendor.set", vendor.Code, func(tx landfall.Tx) (string, error) {
		return describeVendor(vendor), tx.SaveVendor(ctx, vendor)
	})
}

// RemoveVendor forgets a payment vendor. What it said about instructions that
// are on accounts already stays there.
func (o *Operator) RemoveVendor(ctx context.Context, code string) error {
	return o.change(ctx, "vendor.remove", code, func(tx landfall.Tx) (string, error) {
		return "", vendorFault(ctx, tx, code, tx.RemoveVendor(ctx, code))
	})
}

// Vendors gives all payment vendors, by code.
func (o *Operator) Vendors(ctx context.Context) ([]landfall.Vendor, error) {
	var vendors []landfall.Vendor
	err := o.view(ctx, "vendor.list", func(view landfall.View) error {
		var err error
		vendors, err = view.Vendors(ctx)
		return err
	})
	return vendors, err
}

func describeVendor(vendor landfall.Vendor) string {
	parts := []string{"adapter=" + vendor.Adapter}
	if vendor.BaseURL != "" {
		parts = append(parts, fmt.Sprintf("base_url=%q", vendor.BaseURL))
	}
	if vendor.SecretEnv != "" {
		parts = append(parts, "secret_env="+vendor.SecretEnv)
	}
	for _, network := range vendor.Networks {
		parts = append(parts, "network="+network)
	}
	for _, name := range slices.Sorted(maps.Keys(vendor.Settings)) {
		parts = append(parts, "setting "+name)
	}
	return strings.Join(parts, ", ")
}
