package landfall

import (
	"context"
)

// SupplierReader reads import suppliers.
type SupplierReader interface {
	// Supplier gives one by its code, or ErrNotFound.
	Supplier(ctx context.Context, code string) (Supplier, error)
	// GrantedSupplier gives one only if the organisation was granted it; no
	// such supplier and no grant are the same ErrNotFound.
	GrantedSupplier(ctx context.Context, organisation, code string) (Supplier, error)
	// Suppliers gives all, by code.
	Suppliers(ctx context.Context) ([]Supplier, error)
	// Grantees names the organisations granted a supplier, sorted.
	Grantees(ctx context.Context, code string) ([]string, error)
}

// SupplierWriter changes import suppliers.
type SupplierWriter interface {
	// CreateSupplier keeps a new one, or ErrExists. CreatedAt is set here.
	CreateSupplier(ctx context.Context, supplier Supplier) error
	// LockSuppliers keeps everybody else from creating or changing suppliers
	// until this transaction ends, for decisions about all of them.
	LockSuppliers(ctx context.Context) error
	// SaveSupplier replaces the settings of an existing one, or ErrNotFound.
	SaveSupplier(ctx context.Context, supplier Supplier) error
	// Grant lets an organisation use a supplier; again is fine. An absent
	// supplier or organisation is ErrNotFound.
	Grant(ctx context.Context, code, organisation string) error
	// Ungrant takes it back; ErrNotFound when there was no grant.
	Ungrant(ctx context.Context, code, organisation string) error
}

// TeamReader reads operations teams.
type TeamReader interface {
	Team(ctx context.Context, name string) (Team, error)
	Teams(ctx context.Context) ([]Team, error)
}

// TeamWriter changes operations teams.
type TeamWriter interface {
	CreateTeam(ctx context.Context, name string) error // or ErrExists
}

// VendorReader reads the payment vendors the operator configured.
type VendorReader interface {
	Vendor(ctx context.Context, code string) (Vendor, error) // or ErrNotFound
	Vendors(ctx context.Context) ([]Vendor, error)           // all, by code
	// GrantedVendor gives a vendor only if the supplier may use it: the vendor
	// is open to every supplier, or was granted to this one. No such vendor and
	// no grant are the same ErrNotFound.
	GrantedVendor(ctx context.Context, supplier, code string) (Vendor, error)
	// VendorGrants says which suppliers may use a vendor, or ErrNotFound.
	VendorGrants(ctx context.Context, code string) (VendorGrants, error)
}

// VendorWriter changes the payment vendors.
type VendorWriter interface {
	// SaveVendor keeps a vendor, or replaces the one with its code. CreatedAt
	// is set here, the first time.
	SaveVendor(ctx context.Context, vendor Vendor) error
	// RemoveVendor forgets a vendor with its grants, or ErrNotFound.
	// Instructions stay.
	RemoveVendor(ctx context.Context, code string) error
	// GrantVendor lets a supplier use a vendor, and from then on nobody who was
	// not granted it; again is fine. An absent one of the two is ErrNotFound.
	GrantVendor(ctx context.Context, code, supplier string) error
	// UngrantVendor takes a grant back; ErrNotFound when there was none. A
	// vendor that lost its last grant is for nobody, not for everybody.
	UngrantVendor(ctx context.Context, code, supplier string) error
	// OpenVendor lets every supplier use a vendor and forgets its grants.
	OpenVendor(ctx context.Context, code string) error
}
