package landfall

import "time"

// SupplierStatus says whether a supplier's migration accepts writes.
type SupplierStatus string

// The three statuses, spelled as the wire spells them.
const (
	Ongoing  SupplierStatus = "Ongoing"
	Paused   SupplierStatus = "Paused"
	Complete SupplierStatus = "Complete"
)

// SupplierStatuses lists the statuses in the order people expect them.
var SupplierStatuses = []SupplierStatus{Ongoing, Paused, Complete}

// Severity says what a broken cross-field rule does to a request.
type Severity string

// The severities: refuse, accept and tell, or do not look.
const (
	SeverityError   Severity = "error"
	SeverityWarning Severity = "warning"
	SeverityOff     Severity = "off"
)

// Supplier is an import supplier: the group of accounts that move together and
// the settings the operator gave them.
type Supplier struct {
	Code               string
	Name               string
	Status             SupplierStatus
	DocumentRoot       string // never empty: without one a supplier would reach every other's documents
	Currency           string // ISO 4217
	Region             string // ISO 3166, for phone numbers and postcodes
	TimeZone           string // "today" is this zone's
	SendCustomerEmails bool
	VerifyDocuments    bool
	ConcurrencyLimit   int           // 0 means none
	UndoWindow         time.Duration // how long after its creation an account can be taken back; 0 means never
	Retention               Retention
	Severities         map[string]Severity // overrides of the rule book's defaults
	CreatedAt          time.Time
}

// NewSupplier gives a supplier with the defaults an operator need not type.
func NewSupplier(code string) Supplier {
	return Supplier{
		Code: code, Name: code, Status: Ongoing, DocumentRoot: code,
		Currency: "GBP", Region: "GB", TimeZone: "Europe/London",
		UndoWindow: 72 * time.Hour, Severities: map[string]Severity{},
	}
}
