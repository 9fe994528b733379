package operate

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/outbound/payvendor"
)

// SetVendor configures a payment vendor, or replaces the whole configuration of
// an existing one. The audit names the settings but not their values, because
// operators sometimes paste secrets into the wrong place.
func (o *Operator) SetVendor(ctx context.Context, vendor landfall.Vendor) error {
	if err := payvendor.Check(vendor, o.secrets...); err != nil {
		return err
	}
	return o.change(ctx, "vendor.set", vendor.Code, func(tx landfall.Tx) (string, error) {
		return describeVendor(vendor), tx.SaveVendor(ctx, vendor)
	})
}

// RemoveVendor removes a payment vendor. Details it gave for instructions of
// existing accounts stay.
func (o *Operator) RemoveVendor(ctx context.Context, code string) error {
	return o.change(ctx, "vendor.remove", code, func(tx landfall.Tx) (string, error) {
		return "", vendorError(ctx, tx, code, tx.RemoveVendor(ctx, code))
	})
}

// GrantVendor allows a supplier to use a payment vendor. The first grant closes
// the vendor to all suppliers without one.
func (o *Operator) GrantVendor(ctx context.Context, code, supplier string) error {
	return o.change(ctx, "vendor.grant", code, func(tx landfall.Tx) (string, error) {
		if err := vendorAndSupplier(ctx, tx, code, supplier); err != nil {
			return "", err
		}
		return "to " + supplier, tx.GrantVendor(ctx, code, supplier)
	})
}

// RevokeVendor removes a supplier's grant of a payment vendor.
func (o *Operator) RevokeVendor(ctx context.Context, code, supplier string) error {
	return o.change(ctx, "vendor.revoke", code, func(tx landfall.Tx) (string, error) {
		if err := vendorAndSupplier(ctx, tx, code, supplier); err != nil {
			return "", err
		}
		grants, err := tx.VendorGrants(ctx, code)
		if err != nil {
			return "", err
		}
		if grants.AllSuppliers {
			return "", landfall.Refuse(landfall.CodeValidationFailed, fmt.Sprintf(
				"Every supplier can use payment vendor %q. To limit it, grant it to the suppliers that may use it: vendor grant %s SUPPLIER", code, code))
		}
		return "from " + supplier, replaceError(tx.UngrantVendor(ctx, code, supplier), landfall.ErrNotFound, notFound(landfall.CodeNotFound,
			"Payment vendor %q has no grant for import supplier %q, so there is nothing to revoke.", code, supplier))
	})
}

// OpenVendor allows every supplier to use a payment vendor.
func (o *Operator) OpenVendor(ctx context.Context, code string) error {
	return o.change(ctx, "vendor.grant", code, func(tx landfall.Tx) (string, error) {
		return "to every supplier", vendorError(ctx, tx, code, tx.OpenVendor(ctx, code))
	})
}

// vendorAndSupplier checks both sides of a grant, so that the refusal names the
// one that is missing.
func vendorAndSupplier(ctx context.Context, view landfall.View, code, supplier string) error {
	if _, err := view.Vendor(ctx, code); err != nil {
		return vendorError(ctx, view, code, err)
	}
	_, err := view.Supplier(ctx, supplier)
	return supplierError(ctx, view, supplier, err)
}

// VendorFacts is everything an operator sees about a payment vendor.
type VendorFacts struct {
	landfall.Vendor
	Grants landfall.VendorGrants
}

// Vendors returns all payment vendors, by code, and who may use them.
func (o *Operator) Vendors(ctx context.Context) ([]VendorFacts, error) {
	var facts []VendorFacts
	err := o.view(ctx, "vendor.list", func(view landfall.View) error {
		vendors, err := view.Vendors(ctx)
		if err != nil {
			return err
		}
		facts = make([]VendorFacts, len(vendors))
		for i, vendor := range vendors {
			facts[i].Vendor = vendor
			if facts[i].Grants, err = view.VendorGrants(ctx, vendor.Code); err != nil {
				return err
			}
		}
		return nil
	})
	return facts, err
}

// ShowVendor returns one payment vendor and who may use it.
func (o *Operator) ShowVendor(ctx context.Context, code string) (facts VendorFacts, err error) {
	err = o.view(ctx, "vendor.show", func(view landfall.View) (err error) {
		if facts.Vendor, err = view.Vendor(ctx, code); err != nil {
			return vendorError(ctx, view, code, err)
		}
		facts.Grants, err = view.VendorGrants(ctx, code)
		return err
	})
	return facts, err
}

// CheckVendor asks a vendor about an instruction, as the creation of an account
// does, and returns the answer. The audit records the question without the
// reference, which may identify a person.
func (o *Operator) CheckVendor(ctx context.Context, code string, instruction landfall.Instruction) (landfall.InstructionDetails, error) {
	if err := checkLine("reference", "The reference", instruction.Reference, maxReferenceLength); err != nil {
		return landfall.InstructionDetails{}, err
	}
	if !slices.Contains(landfall.InstructionTypes, instruction.Type) {
		return landfall.InstructionDetails{}, invalid("type", rules.CodeInvalidChoice, "The types are %s.", strings.Join(landfall.InstructionTypes, ", "))
	}
	if o.vendors == nil {
		return landfall.InstructionDetails{}, landfall.Refuse(landfall.CodeValidationFailed, "Only a running server asks payment vendors.")
	}
	var vendor landfall.Vendor
	err := o.change(ctx, "vendor.check", code, func(tx landfall.Tx) (_ string, err error) {
		vendor, err = tx.Vendor(ctx, code)
		return "about an instruction of type " + instruction.Type, vendorError(ctx, tx, code, err)
	})
	if err != nil {
		return landfall.InstructionDetails{}, err
	}
	// With no organisation given, the call uses the operator's own circuit
	// breakers and budget.
	return o.vendors.Verify(ctx, "", vendor, instruction)
}

// maxReferenceLength is the maximum that the contract allows.
const maxReferenceLength = 255

// describeVendor describes a configuration for the audit. It names the variable
// that contains the secret, never the secret.
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
