package landfall

import (
	"context"
	"time"

	"landfall/internal/lib/calendar"
	"landfall/internal/lib/money"
)

// AccountData is a parsed staged document: what an account is created from.
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
	Language               string // BCP 47; stored with the mails only
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
	Deceased   bool // reported or confirmed; stored in the document only
}

// Address is a postal address: Lines holds an unstructured one, the other fields
// a structured one.
type Address struct {
	Lines      []string
	Locality   string
	PostalCode string
	Country    string
}

// SupplyAddress is an address that is supplied.
type SupplyAddress struct {
	Address      Address
	SupplyPoints []SupplyPoint
}

// SupplyPoint is a point where an address is supplied with a product.
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

// Account is an account on the platform, created by a process.
type Account struct {
	Number    string // set by the store
	Key       Key
	Revision  int // of the staged document it was made from
	Team      string
	Packs     []string  // under which its document was accepted
	CreatedAt time.Time // set by the store
	Data      AccountData
	Periods   []Period
	Ledger    []LedgerEntry
	Balance   money.Amount
}

// AccountFigures is the totals of an account.
type AccountFigures struct {
	CreatedAt     time.Time
	Currency      string
	Balance       money.Amount
	LedgerEntries int
	Notes         int
	Statements    int
}

// AccountReader reads created accounts.
type AccountReader interface {
	// Account returns the account of a process with everything on it, or
	// ErrNotFound. Its transactions are in the ledger; the two lists of
	// transactions in its data are empty.
	Account(ctx context.Context, key Key) (Account, error)
	// AccountByNumber is Account for an account number.
	AccountByNumber(ctx context.Context, number string) (Account, error)
	// KeyByNumber returns the key of the account with a number, or ErrNotFound.
	KeyByNumber(ctx context.Context, number string) (Key, error)
	// AccountPage returns the account of a process with one page of each of its
	// long lists, or ErrNotFound. It costs what it returns, however long the lists
	// are.
	AccountPage(ctx context.Context, key Key, query AccountPageQuery) (AccountPage, error)
	// AccountFigures returns the totals of an account, or ErrNotFound. It costs
	// the same however long the ledger is.
	AccountFigures(ctx context.Context, key Key) (AccountFigures, error)
	// AccountState returns what a posting of transactions with these ids would be
	// decided from now, or ErrNotFound: number, clock, open period, balance,
	// length of the ledger and the entries with those ids. It locks nothing, so
	// nothing that is written may depend on it.
	AccountState(ctx context.Context, key Key, transactionIDs []string) (AccountState, error)
}
