// Package portrait shows an account as a person sees it: how much in words,
// pinned notes on top, a ledger whose moved dates are explained, how it all
// came to be. A portrait is plain data, ready for a terminal, a page and a
// machine alike, so that all of them tell the same story. What says who the
// people are is masked unless it was asked for.
package accountview

import (
	"encoding/json"
	"time"

	"landfall"
)

// Facts is what is known about an account: its way onto the platform and what
// it became.
type Facts struct {
	Process   landfall.Process
	Supplier  landfall.Supplier
	Revisions []landfall.StagedRevision
	Events    []landfall.Event
	Mails     []landfall.MailRecord
	Account   *landfall.Account // nil until there is one
	Undone    []landfall.UndoneAccount
}

// Options says how much to show, and in which surroundings.
type Options struct {
	Personal     bool                     // people, addresses and what somebody wrote
	Staged       bool                     // the staged documents, personal data and all
	PartialMasks bool                     // masks leave what a caller recognises
	DocumentURL  func(path string) string // where a document is; nil or "" leaves the path
	Now          time.Time                // decides which notes are pinned; zero means now
}

// View is the picture. Names that the API has are its own.
type View struct {
	Supplier         string          `json:"import_supplier"`
	External         string          `json:"external_account_number"`
	State            string          `json:"state"`
	AccountNumber    NullString      `json:"platform_account_number"`
	AccountCreatedAt NullString      `json:"account_created_at"`
	SkipReason       string          `json:"skip_reason,omitempty"`
	Failure          *Failure        `json:"last_failure,omitempty"`
	Account          *Account        `json:"account,omitempty"`
	UndoneAccounts   []UndoneAccount `json:"undone_accounts,omitempty"`
	Revisions        []Revision      `json:"revisions"`
	Events           []Event         `json:"events"`
	Mails            []Mail          `json:"mails"`
}

// Account is the part that exists once the account was created.
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

// New paints the portrait.
func New(facts Facts, options Options) View {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	process := facts.Process
	painted := View{
		Supplier: process.Key.Supplier, External: process.Key.External, State: string(process.State),
		AccountNumber: NullString(process.AccountNumber), AccountCreatedAt: formatInstant(process.AccountCreatedAt),
		SkipReason: process.SkipReason, Failure: newFailure(process.Failure),
		UndoneAccounts: convert(facts.Undone, newUndoneAccount), Events: convert(facts.Events, newEvent),
		Mails: convert(facts.Mails, func(m landfall.MailRecord) Mail { return NewMail(m, options.Personal) }),
	}
	made := 0
	if facts.Account != nil {
		made = facts.Account.Revision
		painted.Account = newAccount(facts.Account, options)
	}
	painted.Revisions = convert(facts.Revisions, func(staged landfall.StagedRevision) Revision {
		return newRevision(staged, made, options.Staged)
	})
	return painted
}

// newAccount turns each part into plain text and numbers, which all printers share.
func newAccount(made *landfall.Account, options Options) *Account {
	data := made.Data
	return &Account{
		Revision: made.Revision, Team: made.Team, Currency: data.Currency,
		Balance: made.Balance.String(), BalanceText: SignedBalance(made.Balance, data.Currency),
		CustomerCount: len(data.Customers), People: newPeople(data, options),
		SupplyPoints: newSupplyPoints(data.SupplyAddresses),
		Periods:      convert(made.Periods, newPeriod),
		Ledger:       convert(made.Ledger, func(e landfall.LedgerEntry) Entry { return newEntry(e, options.Personal) }),
		Notes:        newNotes(data.Notes, options),
		Statements:   convert(data.Statements, func(s landfall.Statement) Statement { return newStatement(s, options) }),
		Instructions: convert(data.Instructions, newInstruction),
		Schedules:    convert(data.PaymentSchedules, newSchedule),
	}
}

// NullString is a text that may be absent: null for machines, nothing for people.
type NullString string

// MarshalJSON tells absent from empty, as the API does.
func (m NullString) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(m))
}

// convert turns every item into another; no items are [] and not null.
func convert[From, To any](items []From, turn func(From) To) []To {
	turned := make([]To, len(items))
	for i, item := range items {
		turned[i] = turn(item)
	}
	return turned
}
