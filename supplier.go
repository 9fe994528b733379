package landfall

import (
	"context"
	"time"

	"landfall/internal/lib/limits"
)

// SupplierStatus is whether a supplier's migration accepts writes.
type SupplierStatus string

// The statuses, as on the wire.
const (
	Ongoing  SupplierStatus = "Ongoing"
	Paused   SupplierStatus = "Paused"
	Complete SupplierStatus = "Complete"
)

// SupplierFacts is what a caller has to know before it sends a book.
type SupplierFacts struct {
	Vendors          []string // payment vendors that the supplier may use
	Status           SupplierStatus
	StatementAmounts AmountUnit
	VerifyDocuments  bool
	BytesPerDay      int64 // quota of the caller's organisation, 0 for none
	BytesLeft        int64 // of it today
	Now              time.Time

	// Of the documents that the caller asked about, if documents are verified.
	NoFileStore      bool // whether they exist is unknown
	MissingDocuments []string
}

// SupplierStatuses lists the statuses in their usual order.
var SupplierStatuses = []SupplierStatus{Ongoing, Paused, Complete}

// Severity is what a violated cross-field rule does to a request.
type Severity string

// The severities: refuse, accept with a warning, or do not check.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityOff     Severity = "off"
)

// Supplier is an import supplier: a group of accounts that are migrated together,
// with their settings.
type Supplier struct {
	Code               string
	Name               string
	Status             SupplierStatus
	DocumentRoot       string // never empty: otherwise a supplier could reach the documents of others
	Currency           string // ISO 4217
	StatementAmounts   AmountUnit
	Region             string // ISO 3166, for phone numbers and postcodes
	TimeZone           string // decides what "today" is
	SendCustomerEmails bool
	MailDelay          time.Duration // between the creation of an account and its e-mail, at least
	VerifyDocuments    bool
	ConcurrencyLimit   int           // 0 means none
	UndoWindow         time.Duration // how long after its creation an account can be undone; 0 means never
	Retention          Retention
	Severities         map[string]Severity // overrides of the default severities
	Packs              []string            // names of packs, such as gb-energy@1
	Target             string              // the target that accounts are delivered to; "": none
	CreatedAt          time.Time
}

// NewSupplier returns a supplier with default settings.
func NewSupplier(code string) Supplier {
	return Supplier{
		Code: code, Name: code, Status: Ongoing, DocumentRoot: code,
		Currency: "GBP", StatementAmounts: MajorUnits, Region: "GB", TimeZone: "Europe/London",
		UndoWindow: limits.UndoWindow, Retention: Retention{Runs: limits.KeepRuns}, Severities: map[string]Severity{},
	}
}

// SupplierReader reads import suppliers.
type SupplierReader interface {
	// Supplier returns one by its code, or ErrNotFound.
	Supplier(ctx context.Context, code string) (Supplier, error)
	// GrantedSupplier returns one only if the organisation was granted it; an
	// unknown supplier and a missing grant are the same ErrNotFound.
	GrantedSupplier(ctx context.Context, organisation, code string) (Supplier, error)
	// GrantedSuppliers returns the codes an organisation was granted, sorted.
	GrantedSuppliers(ctx context.Context, organisation string) ([]string, error)
	// Suppliers returns all, by code.
	Suppliers(ctx context.Context) ([]Supplier, error)
	// Grantees returns the organisations that were granted a supplier, sorted.
	Grantees(ctx context.Context, code string) ([]string, error)
}

// SupplierWriter changes import suppliers.
type SupplierWriter interface {
	// CreateSupplier stores a new one, or returns ErrExists. It sets CreatedAt.
	CreateSupplier(ctx context.Context, supplier Supplier) error
	// LockSuppliers prevents other transactions from creating or changing
	// suppliers until this one ends, for decisions about all of them.
	LockSuppliers(ctx context.Context) error
	// SaveSupplier replaces the settings of an existing one, or returns ErrNotFound.
	SaveSupplier(ctx context.Context, supplier Supplier) error
	// Grant lets an organisation use a supplier; granting again is fine. ErrNotFound
	// when either does not exist.
	Grant(ctx context.Context, code, organisation string) error
	// Ungrant revokes a grant; ErrNotFound when there was none.
	Ungrant(ctx context.Context, code, organisation string) error
}

// AmountUnit is the unit in which a supplier sends the amounts of historical
// statements.
type AmountUnit string

// The units: pounds or pence, for example.
const (
	MajorUnits AmountUnit = "major"
	MinorUnits AmountUnit = "minor"
)
