package main

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"landfall"
	"landfall/internal/calendar"
	"landfall/internal/money"
)

// processEntry is a process for machines. Names that the API has are its own.
type processEntry struct {
	Supplier         string          `json:"import_supplier"`
	External         string          `json:"external_account_number"`
	State            string          `json:"state"`
	AccountNumber    *string         `json:"platform_account_number"`
	AccountCreatedAt *string         `json:"account_created_at"`
	SkipReason       string          `json:"skip_reason,omitempty"`
	Failure          *failureEntry   `json:"last_failure,omitempty"`
	Account          *accountEntry   `json:"account,omitempty"`
	Revisions        []revisionEntry `json:"revisions"`
	Events           []eventEntry    `json:"events"`
}

type failureEntry struct {
	At     string           `json:"at"`
	Code   string           `json:"code"`
	Detail string           `json:"detail"`
	DryRun bool             `json:"dry_run"`
	Errors []violationEntry `json:"errors"`
}

type violationEntry struct {
	Detail string `json:"detail"`
	Code   string `json:"code"`
	Attr   string `json:"attr"`
}

type revisionEntry struct {
	Revision int             `json:"revision"`
	StagedAt string          `json:"staged_at"`
	SHA256   string          `json:"sha256"`
	Bytes    int             `json:"bytes"`
	Document json.RawMessage `json:"document,omitempty"`
}

type eventEntry struct {
	At      string            `json:"at"`
	Type    string            `json:"type"`
	Details map[string]string `json:"details,omitempty"`
}

// accountEntry is a created account for machines. What is personal is there
// only when it was asked for; the ledger is always whole.
type accountEntry struct {
	Revision      int                `json:"made_from_revision"`
	Team          string             `json:"operations_team_name"`
	Currency      string             `json:"currency"`
	Balance       string             `json:"balance"`
	CustomerCount int                `json:"customer_count"`
	People        *peopleEntry       `json:"personal,omitempty"`
	SupplyPoints  []pointEntry       `json:"supply_points"`
	Periods       []periodEntry      `json:"statement_periods"`
	Ledger        []ledgerEntry      `json:"ledger"`
	Notes         []noteEntry        `json:"notes"`
	Statements    []statementEntry   `json:"historical_statements"`
	Instructions  []instructionEntry `json:"payment_instructions"`
	Schedules     []scheduleEntry    `json:"payment_schedules"`
}

type peopleEntry struct {
	BillingName     string          `json:"billing_name,omitempty"`
	BillingAddress  string          `json:"billing_address,omitempty"`
	SupplyAddresses []string        `json:"supply_addresses"`
	Customers       []customerEntry `json:"customers"`
}

type customerEntry struct {
	GivenName  string `json:"given_name,omitempty"`
	FamilyName string `json:"family_name,omitempty"`
	Title      string `json:"title,omitempty"`
	Email      string `json:"email,omitempty"`
	Mobile     string `json:"mobile,omitempty"`
	Landline   string `json:"landline,omitempty"`
	BornOn     string `json:"date_of_birth,omitempty"`
	Role       string `json:"role,omitempty"`
}

type pointEntry struct {
	Address    int              `json:"supply_address"`
	Identifier string           `json:"identifier"`
	SupplyType string           `json:"supply_type,omitempty"`
	From       *string          `json:"supply_start_date"`
	To         *string          `json:"supply_end_date"`
	Agreements []agreementEntry `json:"agreements"`
	Meters     []meterEntry     `json:"meters"`
}

type agreementEntry struct {
	ProductCode string  `json:"product_code"`
	From        *string `json:"effective_from"`
	Until       *string `json:"effective_to"`
	AgreedAt    *string `json:"agreed_at"`
}

type meterEntry struct {
	SerialNumber string          `json:"serial_number"`
	Installed    *string         `json:"installed"`
	Removed      *string         `json:"removed"`
	Registers    []registerEntry `json:"registers"`
}

type registerEntry struct {
	ID       string         `json:"id"`
	Digits   int            `json:"digits,omitempty"`
	Readings []readingEntry `json:"readings"`
}

type readingEntry struct {
	Date  *string `json:"date"`
	Type  string  `json:"type,omitempty"`
	Value string  `json:"value"`
}

type periodEntry struct {
	From    *string `json:"from"`
	To      *string `json:"to"` // null: open
	Balance *string `json:"closing_balance"`
}

type ledgerEntry struct {
	Sequence     int             `json:"sequence"`
	Kind         string          `json:"kind"`
	Date         *string         `json:"date"`
	OriginalDate *string         `json:"original_date,omitempty"`
	ID           string          `json:"transaction_id,omitempty"`
	Type         string          `json:"type,omitempty"`
	Reason       string          `json:"reason,omitempty"`
	Amount       string          `json:"signed_amount"`
	Balance      string          `json:"balance"`
	Closed       bool            `json:"on_closed_statement"`
	Transaction  json.RawMessage `json:"transaction,omitempty"`
}

type noteEntry struct {
	CreatedAt string   `json:"created_at"`
	Pinned    bool     `json:"is_pinned"`
	ShownTop  bool     `json:"pinned_now"`
	UnpinAt   *string  `json:"unpin_at"`
	Body      *string  `json:"body,omitempty"`
	Documents []string `json:"documents"`
}

type statementEntry struct {
	ID       string  `json:"statement_id"`
	From     *string `json:"bill_period_from_date"`
	To       *string `json:"bill_period_to_date"`
	IssuedOn *string `json:"issued_date"`
	Number   string  `json:"number,omitempty"`
	Gross    *string `json:"gross_amount"`
	Document string  `json:"document,omitempty"`
}

type instructionEntry struct {
	Vendor       string  `json:"vendor"`
	Reference    string  `json:"reference"`
	Type         string  `json:"type"`
	ValidFrom    *string `json:"valid_from"`
	ForSchedules bool    `json:"use_for_scheduled_payments"`
	Status       string  `json:"vendor_status"`
	Scheme       string  `json:"scheme,omitempty"`
	LastDigits   string  `json:"last_digits,omitempty"`
	Expiry       string  `json:"expiry,omitempty"`
}

type scheduleEntry struct {
	From       *string `json:"start_date"`
	To         *string `json:"end_date"`
	Trigger    string  `json:"trigger,omitempty"`
	Amount     *string `json:"amount"`
	Frequency  string  `json:"frequency,omitempty"`
	DayOfMonth int     `json:"day_of_month,omitempty"`
	Threshold  *string `json:"threshold"`
}

func (a *account) entry() processEntry {
	process := a.Process
	entry := processEntry{
		Supplier: process.Key.Supplier, External: process.Key.External, State: string(process.State),
		AccountCreatedAt: nullable(process.AccountCreatedAt), SkipReason: process.SkipReason,
		Revisions: []revisionEntry{}, Events: []eventEntry{},
	}
	if process.AccountNumber != "" {
		entry.AccountNumber = &process.AccountNumber
	}
	if failure := process.Failure; failure != nil {
		entry.Failure = &failureEntry{instant(failure.At), failure.Code, failure.Detail, failure.DryRun, each(failure.Violations,
			func(v landfall.Violation) violationEntry { return violationEntry{v.Detail, v.Code, v.Attr} })}
	}
	if a.Account != nil {
		entry.Account = a.accountEntry()
	}
	for _, revision := range a.Revisions {
		one := revisionEntry{Revision: revision.Revision, StagedAt: instant(revision.StagedAt),
			SHA256: hex.EncodeToString(revision.Hash[:]), Bytes: len(revision.Document)}
		if a.document {
			one.Document = revision.Document
		}
		entry.Revisions = append(entry.Revisions, one)
	}
	for _, event := range a.Events {
		entry.Events = append(entry.Events, eventEntry{instant(event.At), string(event.Type), event.Details})
	}
	return entry
}

func (a *account) accountEntry() *accountEntry {
	data := a.Account.Data
	entry := &accountEntry{
		Revision: a.Account.Revision, Team: a.Account.Team, Currency: data.Currency, Balance: a.Account.Balance.String(),
		CustomerCount: len(data.Customers), SupplyPoints: []pointEntry{},
		Periods: each(a.Account.Periods, newPeriodEntry), Ledger: each(a.Account.Ledger, a.ledgerEntry),
		Notes: each(a.notesInOrder(time.Now()), a.noteEntry), Statements: each(data.Statements, a.statementEntry),
		Instructions: each(data.Instructions, newInstructionEntry), Schedules: each(data.PaymentSchedules, newScheduleEntry),
	}
	if a.personal {
		entry.People = &peopleEntry{
			BillingName: data.BillingName, BillingAddress: oneLine(data.BillingAddress),
			SupplyAddresses: each(data.SupplyAddresses, func(place landfall.SupplyAddress) string { return oneLine(place.Address) }),
			Customers: each(data.Customers, func(c landfall.Customer) customerEntry {
				return customerEntry{c.GivenName, c.FamilyName, c.Title, c.Email, c.Mobile, c.Landline, day(c.BornOn), c.Role}
			}),
		}
	}
	for i, place := range data.SupplyAddresses {
		for _, point := range place.SupplyPoints {
			entry.SupplyPoints = append(entry.SupplyPoints, newPointEntry(i+1, point))
		}
	}
	return entry
}

func newPointEntry(address int, point landfall.SupplyPoint) pointEntry {
	return pointEntry{
		Address: address, Identifier: point.Identifier, SupplyType: point.SupplyType, From: dayOrNull(point.StartOn), To: dayOrNull(point.EndOn),
		Agreements: each(point.Agreements, func(a landfall.Agreement) agreementEntry {
			return agreementEntry{a.ProductCode, dayOrNull(a.FromOn), dayOrNull(a.ToOn), nullable(a.AgreedAt)}
		}),
		Meters: each(point.Meters, func(m landfall.Meter) meterEntry {
			return meterEntry{m.SerialNumber, dayOrNull(m.InstalledOn), dayOrNull(m.RemovedOn), each(m.Registers, newRegisterEntry)}
		}),
	}
}

func newRegisterEntry(register landfall.Register) registerEntry {
	return registerEntry{register.ID, register.Digits, each(register.Readings, func(r landfall.Reading) readingEntry {
		return readingEntry{dayOrNull(r.On), r.Type, r.Value.String()}
	})}
}

func newPeriodEntry(period landfall.Period) periodEntry {
	entry := periodEntry{From: dayOrNull(period.FromOn), To: dayOrNull(period.ToOn)}
	if !period.Open() {
		entry.Balance = amountOrNull(&period.Balance)
	}
	return entry
}

func (a *account) ledgerEntry(entry landfall.LedgerEntry) ledgerEntry {
	transaction := entry.Transaction
	shown := ledgerEntry{
		Sequence: entry.Sequence, Kind: string(entry.Kind), Date: dayOrNull(transaction.On), OriginalDate: dayOrNull(transaction.OriginalOn),
		ID: transaction.ID, Type: string(transaction.Type), Reason: transaction.Reason,
		Amount: entry.Signed.String(), Balance: entry.Balance.String(), Closed: entry.Closed,
	}
	if a.personal {
		shown.Transaction = transaction.Document
	}
	return shown
}

func (a *account) noteEntry(note landfall.Note) noteEntry {
	entry := noteEntry{
		CreatedAt: instant(note.CreatedAt), Pinned: note.Pinned, ShownTop: note.ShownPinned(time.Now()),
		UnpinAt: nullable(note.UnpinAt), Documents: each(note.DocumentPaths, a.location),
	}
	if a.personal && note.HasBody {
		entry.Body = &note.Body
	}
	return entry
}

func (a *account) statementEntry(s landfall.Statement) statementEntry {
	return statementEntry{s.ID, dayOrNull(s.FromOn), dayOrNull(s.ToOn), dayOrNull(s.IssuedOn), s.Number, amountOrNull(s.GrossAmount), a.location(s.Path)}
}

func newInstructionEntry(i landfall.Instruction) instructionEntry {
	return instructionEntry{i.Vendor, i.Reference, i.Type, dayOrNull(i.ValidFromOn), i.ForSchedules,
		i.Details.Status, i.Details.Scheme, i.Details.LastDigits, i.Details.Expiry}
}

func newScheduleEntry(s landfall.PaymentSchedule) scheduleEntry {
	return scheduleEntry{dayOrNull(s.StartOn), dayOrNull(s.EndOn), s.Trigger, amountOrNull(s.Amount), s.Frequency, s.DayOfMonth, amountOrNull(s.Threshold)}
}

// each turns every item into another; no items are [] and not null.
func each[From, To any](items []From, turn func(From) To) []To {
	turned := make([]To, len(items))
	for i, item := range items {
		turned[i] = turn(item)
	}
	return turned
}

// dayOrNull is a date for JSON.
func dayOrNull(on calendar.Day) *string {
	if on.IsZero() {
		return nil
	}
	written := on.String()
	return &written
}

// amountOrNull is an amount for JSON: a text, so that nobody reads a fraction.
func amountOrNull(amount *money.Amount) *string {
	if amount == nil {
		return nil
	}
	written := amount.String()
	return &written
}
