package landfall

import (
	"time"

	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// AccountData is a staged document understood: what an account is made from.
// Fields that no rule and no table needs stay in the document, which remains
// linked to the account.
type AccountData struct {
	Key                    Key
	Currency               string
	AccountType            string
	BillingName            string
	BillingAddress         Address
	Customers              []Customer
	SupplyAddresses        []SupplyAddress
	LastBilledToOn         calendar.Day
	LastStatementClosingOn calendar.Day
	LastStatementIssuedOn  calendar.Day
	NextBillDueOn          calendar.Day
	LastStatementBalance   *money.Amount
	TransferBalance        *money.Amount
	HistoricalTransactions []Transaction
	CurrentTransactions    []Transaction
	Statements             []Statement
	Notes                  []Note
	Instructions           []Instruction
	PaymentSchedules       []PaymentSchedule
	Language               string // BCP 47; kept with the mails alone
}

// Customer is a person or business of an account.
type Customer struct {
	GivenName  string
	FamilyName string
	Title      string
	Email      string
	Mobile     string
	Landline   string
	BornOn     calendar.Day
	Role       string
	Deceased   bool // reported or confirmed; kept in the document alone
}

// Address is a postal address; Lines holds the free style, the named fields
// the structured one.
type Address struct {
	Lines      []string
	Locality   string
	PostalCode string
	Country    string
}

// SupplyAddress is a place that is supplied.
type SupplyAddress struct {
	Address      Address
	SupplyPoints []SupplyPoint
}

// SupplyPoint is where a product enters a place.
type SupplyPoint struct {
	Identifier string
	SupplyType string
	StartOn    calendar.Day
	EndOn      calendar.Day
	Agreements []Agreement
	Meters     []Meter
}

// Agreement says which product a supply point is on, and when; To is exclusive.
type Agreement struct {
	ProductCode string
	FromOn      calendar.Day
	ToOn        calendar.Day
	AgreedAt    time.Time
}

// Meter measures a supply point.
type Meter struct {
	SerialNumber string
	InstalledOn  calendar.Day
	RemovedOn    calendar.Day
	Registers    []Register
}

// Register is one counter of a meter.
type Register struct {
	ID       string
	Digits   int
	Readings []Reading
}

// Reading is a value read from a register at the transfer.
type Reading struct {
	On    calendar.Day
	Type  string
	Value money.Decimal
}

// PaymentSchedule says when money is collected.
type PaymentSchedule struct {
	StartOn    calendar.Day
	EndOn      calendar.Day
	Trigger    string
	Amount     *money.Amount
	Frequency  string
	DayOfMonth int
	Threshold  *money.Amount
}

// Account is an account of the platform: what a process becomes.
type Account struct {
	Number    string // set by the store
	Key       Key
	Revision  int // of the staged document it was made from
	Team      string
	CreatedAt time.Time // set by the store
	Data      AccountData
	Periods   []Period
	Ledger    []LedgerEntry
	Balance   money.Amount
}

// AccountFigures is what an account comes to, without what it consists of.
type AccountFigures struct {
	CreatedAt     time.Time
	Currency      string
	Balance       money.Amount
	LedgerEntries int
	Notes         int
	Statements    int
}
