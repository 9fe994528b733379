package operate

import (
	"context"
	"errors"
	"fmt"

	"landfall"
)

// The functions below turn the store's ErrNotFound into a refusal that names the
// wrong word and suggests the right one. They return any other error, and nil,
// unchanged.

// processError checks the supplier first. With a mistyped code no account could
// ever be found, and the refusal would blame the account.
func processError(ctx context.Context, view landfall.SupplierReader, key landfall.Key, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	if _, err := view.Supplier(ctx, key.Supplier); err != nil {
		return supplierError(ctx, view, key.Supplier, err)
	}
	return notFound(landfall.CodeProcessUnknown, "No account %q was ever staged for supplier %q.", key.External, key.Supplier)
}

// supplierError turns ErrNotFound into a refusal that suggests the code that was
// probably meant. Other errors pass: an unreachable database is not a typing
// error.
func supplierError(ctx context.Context, view landfall.SupplierReader, code string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	suppliers, err := view.Suppliers(ctx)
	if err != nil {
		return err
	}
	known := namesOf(suppliers, func(s landfall.Supplier) string { return s.Code })
	return notFound(landfall.CodeSupplierUnknown, "There is no import supplier %q. %s", code, suggestion(code, known, "supplier list"))
}

// organisationError does the same for an organisation. Names of organisations
// are long and mistyped most.
func organisationError(ctx context.Context, view landfall.CredentialReader, name string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	organisations, err := view.Organisations(ctx)
	if err != nil {
		return err
	}
	known := namesOf(organisations, func(o landfall.Organisation) string { return o.Name })
	return notFound(landfall.CodeNotFound, "There is no organisation %q. %s", name, suggestion(name, known, "organisation list"))
}

// vendorError does the same for a payment vendor.
func vendorError(ctx context.Context, view landfall.VendorReader, code string, err error) error {
	if !errors.Is(err, landfall.ErrNotFound) {
		return err
	}
	vendors, err := view.Vendors(ctx)
	if err != nil {
		return err
	}
	known := namesOf(vendors, func(v landfall.Vendor) string { return v.Code })
	return notFound(landfall.CodeVendorUnknown, "There is no payment vendor %q. %s", code, suggestion(code, known, "vendor list"))
}

// namesOf lists the names to choose a suggestion from.
func namesOf[T any](things []T, name func(T) string) []string {
	listed := make([]string, len(things))
	for i, thing := range things {
		listed[i] = name(thing)
	}
	return listed
}

// notFound reports that a named thing does not exist.
func notFound(code, detail string, args ...any) *landfall.Error {
	return &landfall.Error{Kind: landfall.NotFound, Code: code, Detail: fmt.Sprintf(detail, args...)}
}
