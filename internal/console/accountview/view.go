// Package accountview prepares an account for display: the balance in words,
// pinned notes first, moved dates explained, and its history. A view is plain
// data for the terminal, the console and JSON, so that all show the same.
// Personal data is masked unless it was asked for.
package accountview

import (
	"encoding/json"
	"time"

	"landfall"
)

// Facts is everything that is stored about an account.
type Facts struct {
	Process   landfall.Process
	Supplier  landfall.Supplier
	Revisions []landfall.StagedRevision
	Events    []landfall.Event
	Mails     []landfall.MailRecord
	Account   *landfall.Account // nil until there is one
	Undone    []landfall.UndoneAccount
	Refused   []landfall.Failure // postings
}

// Options say how much to show.
type Options struct {
	Personal     bool                     // show what is about a customer
	Staged       bool                     // include the staged documents with all personal data
	PartialMasks bool                     // leave initials and endings, so that a caller can be recognised
	DocumentURL  func(path string) string // URL of a document; nil or "" leaves the path
	Now          time.Time                // decides which notes are pinned; zero means now
}

// View is an account for display. Its JSON uses the names of the API.
type View struct {
	Supplier         string          `json:"import_supplier"`
	External         string          `json:"external_account_number"`
	State            string          `json:"state"`
	AccountNumber    NullString      `json:"platform_account_number"`
	AccountCreatedAt NullString      `json:"account_created_at"`
	SkipReason       string          `json:"skip_reason,omitempty"`
	Failure          *Failure        `json:"last_failure,omitempty"`
	RefusedPostings  []Failure       `json:"refused_postings,omitempty"`
	Account          *Account        `json:"account,omitempty"`
	UndoneAccounts   []UndoneAccount `json:"undone_accounts,omitempty"`
	Revisions        []Revision      `json:"revisions"`
	Events           []Event         `json:"events"`
	Mails            []Mail          `json:"mails"`
}

// Account is the part that exists after the account was created.
type Account struct {
	Revision      int           `json:"made_from_revision"`
	Team          string        `json:"operations_team_name"`
	Currency      string        `json:"currency"`
	Balance       string        `json:"balance"`
	BalanceText   string        `json:"balance_in_words"`
	CustomerCount int           `json:"customer_count"`
	People        People        `json:"personal"`
	SupplyPoints  []SupplyPoint `json:"supply_points"`
	Periods       []Period      `json:"statement_periods"`
	Ledger        []Entry       `json:"ledger"`
	Notes         []Note        `json:"notes"`
	Statements    []Statement   `json:"historical_statements"`
	Instructions  []Instruction `json:"payment_instructions"`
	Schedules     []Schedule    `json:"payment_schedules"`
}

// New returns the view of an account.
func New(facts Facts, options Options) View {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	process := facts.Process
	view := View{
		Supplier: process.Key.Supplier, External: process.Key.External, State: string(process.State),
		AccountNumber: NullString(process.AccountNumber), AccountCreatedAt: formatInstant(process.AccountCreatedAt),
		SkipReason: process.SkipReason, Failure: newFailure(process.Failure),
		RefusedPostings: convert(facts.Refused, func(f landfall.Failure) Failure { return *newFailure(&f) }),
		UndoneAccounts:  convert(facts.Undone, newUndoneAccount), Events: convert(facts.Events, newEvent),
		Mails: convert(facts.Mails, func(m landfall.MailRecord) Mail { return NewMail(m, options.Personal) }),
	}
	made := 0
	if facts.Account != nil {
		made = facts.Account.Revision
		view.Account = newAccount(facts.Account, options)
	}
	view.Revisions = convert(facts.Revisions, func(staged landfall.StagedRevision) Revision {
		return newRevision(staged, made, options.Staged)
	})
	return view
}

// newAccount formats each part.
func newAccount(made *landfall.Account, options Options) *Account {
	data := made.Data
	return &Account{
		Revision: made.Revision, Team: made.Team, Currency: data.Currency,
		Balance: made.Balance.String(), BalanceText: SignedBalance(made.Balance, data.Currency),
		CustomerCount: len(data.Customers), People: newPeople(data, options),
		SupplyPoints: newSupplyPoints(data.SupplyAddresses, options),
		Periods:      convert(made.Periods, newPeriod),
		Ledger:       convert(made.Ledger, func(e landfall.LedgerEntry) Entry { return newEntry(e, options.Personal) }),
		Notes:        newNotes(data.Notes, options),
		Statements:   convert(data.Statements, func(s landfall.Statement) Statement { return newStatement(s, options) }),
		Instructions: convert(data.Instructions, func(i landfall.Instruction) Instruction { return newInstruction(i, options) }),
		Schedules:    convert(data.PaymentSchedules, newSchedule),
	}
}

// NullString is a text that is null in JSON when it is empty.
type NullString string

// MarshalJSON writes null for an empty text.
func (m NullString) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(m))
}

// convert converts a slice. No items are [] in JSON and not null.
func convert[From, To any](items []From, one func(From) To) []To {
	converted := make([]To, len(items))
	for i, item := range items {
		converted[i] = one(item)
	}
	return converted
}
