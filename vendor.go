package landfall

import (
	"context"
	"time"
)

// The error codes of payment instructions. The last two are for errors of the
// vendor: the first of them is worth retrying, the second is not.
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

// The types of payment instruction, as on the wire.
const (
	Card        = "CARD"
	DirectDebit = "DIRECT_DEBIT"
	BPay        = "BPAY"
	PaymentSlip = "PAYMENT_SLIP"
	Custom      = "CUSTOM"
)

// InstructionTypes lists the types in their usual order.
var InstructionTypes = []string{Card, DirectDebit, BPay, PaymentSlip, Custom}

// Vendor is a payment vendor as the operator configured it. It contains no secret,
// only the name of the environment variable that does.
type Vendor struct {
	Code      string            // the vendor field of payloads
	Adapter   string            // stripe, gocardless, json or sandbox
	BaseURL   string            // "" means the adapter's own
	SecretEnv string            // environment variable that holds the credential
	Networks  []string          // private networks it may be reached in, as CIDR; none by default
	Settings  map[string]string // other settings of the adapter
	CreatedAt time.Time
}

// VendorGrants says which suppliers may use a vendor.
type VendorGrants struct {
	AllSuppliers bool     // every supplier may use it; then Suppliers is empty
	Suppliers    []string // their codes, sorted
}

// InstructionDetails is what a vendor reports about an instruction. It has no field
// for a card or bank account number.
type InstructionDetails struct {
	Status     string // the vendor's own word
	Scheme     string // visa, bacs, sepa_debit …; "" when unknown
	LastDigits string // of the card or account, four at most
	Expiry     string // of a card, YYYY-MM; "" when it has none
}

// InstructionVerifier asks payment vendors about payment instructions.
type InstructionVerifier interface {
	// Verify checks that an instruction exists at its vendor, has the given type and
	// can be used, and returns what the vendor reports. It never writes anything at
	// the vendor. It returns within a time limit, usually 10 seconds, and must not be
	// called inside a database transaction.
	//
	// Every organisation has its own circuit breaker and budget at every vendor, so
	// that none can use up another's.
	//
	// Every failure is an *Error. One of kind Invalid will fail again; one of kind
	// Internal may succeed when retried. Neither contains a secret or text of the
	// vendor. When the caller cancels ctx, Verify returns the context's error.
	Verify(ctx context.Context, organisation string, vendor Vendor, instruction Instruction) (InstructionDetails, error)
}

// RefuseVendor returns the refusal of a vendor that is not configured.
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
