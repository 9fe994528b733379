package operate

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// The functions below turn the store's "not found" into a refusal that blames
// the right word and says which one may have been meant. Any other error, and
// none, stays what it is.

// processFault looks at the supplier first: with a mistyped code no account
// could ever be found, and the account would be blamed for it.
func processFault(ctx context.Context, view landfall.SupplierReader, key landfall.Key, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	if _, err := view.Supplier(ctx, key.Supplier); err != nil {
		return supplierFault(ctx, view, key.Supplier, err)
	}
	return absent(landfall.CodeProcessUnknown, "No account %q was ever staged for supplier %q.", key.External, key.Supplier)
}

// supplierFault turns an absent supplier into a sentence with the code that was
// probably meant. Other errors pass: a database that is away is no typing error.
func supplierFault(ctx context.Context, view landfall.SupplierReader, code string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	suppliers, err := view.Suppliers(ctx)
	if err != nil {
		return err
	}
	known := names(suppliers, func(s landfall.Supplier) string { return s.Code })
	return absent(landfall.CodeSupplierUnknown, "There is no import supplier %q. %s", code, hint(code, known, "supplier list"))
}

// organisationFault does the same for an organisation, whose names are long and
// mistyped most.
func organisationFault(ctx context.Context, view landfall.CredentialReader, name string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	organisations, err := view.Organisations(ctx)
	if err != nil {
		return err
	}
	known := names(organisations, func(o landfall.Organisation) string { return o.Name })
	return absent(landfall.CodeNotFound, "There is no organisation %q. %s", name, hint(name, known, "organisation list"))
}

// vendorFault does the same for a payment vendor.
func vendorFault(ctx context.Context, view landfall.VendorReader, code string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	vendors, err := view.Vendors(ctx)
	if err != nil {
		return err
	}
	known := names(vendors, func(v landfall.Vendor) string { return v.Code })
	return absent(landfall.CodeVendorUnknown, "There is no payment vendor %q. %s", code, hint(code, known, "vendor list"))
}

// names lists what somebody may have meant.
func names[T any](things []T, name func(T) string) []string {
	listed := make([]string, len(things))
	for i, thing := range things {
		listed[i] = name(thing)
	}
	return listed
}

// absent says that a named thing does not exist.
func absent(code, detail string, args ...any) *landfall.Error {
	return &landfall.Error{Kind: landfall.NotFound, Code: code, Detail: fmt.Sprintf(detail, args...)}
}
