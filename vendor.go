package landfall

import (
	"context"
	"time"
)

// The codes of everything that can go wrong with a payment instruction. The
// last two are for trouble at the vendor: the first of them is worth repeating
// as is, the second is not.
const (
	CodeInstructionNotFound     = "payment_instruction_not_found"
	CodeInstructionTypeMismatch = "payment_instruction_type_mismatch"
	CodeInstructionInactive     = "payment_instruction_inactive"
	CodeInstructionExists       = "payment_instruction_already_exists"
	CodeVendorUnknown           = "payment_vendor_does_not_exist"
	CodeVendorRejected          = "payment_vendor_rejected"
	CodeVendorUnavailable       = "payment_vendor_unavailable"
	CodeVendorOutOfService      = "payment_vendor_out_of_service"
)

// The types of payment instruction, spelled as the wire spells them.
const (
	Card        = "CARD"
	DirectDebit = "DIRECT_DEBIT"
	BPay        = "BPAY"
	PaymentSlip = "PAYMENT_SLIP"
	Custom      = "CUSTOM"
)

// InstructionTypes lists the types in the order people expect them.
var InstructionTypes = []string{Card, DirectDebit, BPay, PaymentSlip, Custom}

// Vendor is a payment vendor as the operator configured it. It holds no
// secret: only the name of the environment variable that does.
type Vendor struct {
	Code      string            // what payloads say in their vendor field
	Adapter   string            // stripe, gocardless, json or sandbox
	BaseURL   string            // "" means the adapter's own
	SecretEnv string            // environment variable that holds the credential
	Networks  []string          // private networks it may be reached in, as CIDR; none by default
	Settings  map[string]string // what else the adapter wants to know
	CreatedAt time.Time
}

// VendorGrants says which suppliers may use a vendor.
type VendorGrants struct {
	AllSuppliers bool     // open to every supplier; then Suppliers is empty
	Suppliers    []string // their codes, sorted
}

// InstructionDetails is what a vendor said about an instruction. There is no
// room in it for a card or bank account number.
type InstructionDetails struct {
	Status     string // the vendor's own word
	Scheme     string // visa, bacs, sepa_debit …; "" when not told
	LastDigits string // of the card or account, four at most
	Expiry     string // of a card, YYYY-MM; "" when it has none
}

// InstructionVerifier asks payment vendors about payment instructions.
type InstructionVerifier interface {
	// Verify asks whether an instruction exists at its vendor, is of the type
	// claimed and can be used, and gives what the vendor said. It never writes
	// anything at the vendor. It ends within a time limit of its own, usually
	// 10 seconds, and must not be called inside a database transaction.
	//
	// The organisation on whose behalf it asks has breakers and a budget of
	// its own at every vendor: no organisation can use up another's.
	//
	// Every failure is an *Error. Those of kind Invalid will fail again in the
	// same form; those of kind Internal may succeed when repeated as they are.
	// No secret and no text of the vendor's is in either. Only when ctx was
	// cancelled by the caller the answer is the context's error.
	Verify(ctx context.Context, organisation string, vendor Vendor, instruction Instruction) (InstructionDetails, error)
}

// RefuseVendor is the answer to a vendor code that the operator never
// configured.
func RefuseVendor() *Error {
	return RefuseField("vendor", CodeVendorUnknown, "This payment vendor is not configured here.")
}

// VendorReader reads the configured payment vendors.
type VendorReader interface {
	Vendor(ctx context.Context, code string) (Vendor, error) // or ErrNotFound
	Vendors(ctx context.Context) ([]Vendor, error)           // all, by code
	// GrantedVendor returns a vendor only if the supplier may use it: the vendor is
	// open to every supplier or was granted to this one. An unknown vendor and a
	// missing grant are the same ErrNotFound.
	GrantedVendor(ctx context.Context, supplier, code string) (Vendor, error)
	// VendorGrants returns which suppliers may use a vendor, or ErrNotFound.
	VendorGrants(ctx context.Context, code string) (VendorGrants, error)
}

// VendorWriter changes the payment vendors.
type VendorWriter interface {
	// SaveVendor stores a vendor or replaces the one with its code. It sets
	// CreatedAt the first time.
	SaveVendor(ctx context.Context, vendor Vendor) error
	// RemoveVendor deletes a vendor and its grants, or returns ErrNotFound.
	// Instructions stay.
	RemoveVendor(ctx context.Context, code string) error
	// GrantVendor lets a supplier use a vendor; from then on only suppliers with a
	// grant may. Granting again is fine. ErrNotFound when either does not exist.
	GrantVendor(ctx context.Context, code, supplier string) error
	// UngrantVendor revokes a grant; ErrNotFound when there was none. A vendor that
	// lost its last grant is open to nobody, not to everybody.
	UngrantVendor(ctx context.Context, code, supplier string) error
	// OpenVendor lets every supplier use a vendor and deletes its grants.
	OpenVendor(ctx context.Context, code string) error
}
