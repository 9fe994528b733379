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
	Personal bool                     // people, addresses and what somebody wrote
	Staged   bool                     // the staged documents, personal data and all
	Initials bool                     // masks leave what a caller recognises
	Locate   func(path string) string // where a document is; nil or "" leaves the path
	Now      time.Time                // decides which notes are pinned; zero means now
}

// Portrait is the picture. Names that the API has are its own.
type Portrait struct {
	Supplier         string     `json:"import_supplier"`
	External         string     `json:"external_account_number"`
	State            string     `json:"state"`
	AccountNumber    Maybe      `json:"platform_account_number"`
	AccountCreatedAt Maybe      `json:"account_created_at"`
	SkipReason       string     `json:"skip_reason,omitempty"`
	Failure          *Failure   `json:"last_failure,omitempty"`
	Account          *Account   `json:"account,omitempty"`
	Undone           []Undone   `json:"undone_accounts,omitempty"`
	Revisions        []Revision `json:"revisions"`
	Events           []Event    `json:"events"`
	Mails            []Mail     `json:"mails"`
}

// Account is the part that exists once the account was created.
type Account struct {
	Revision      int           `json:"made_from_revision"`
	Team          string        `json:"operations_team_name"`
	Currency      string        `json:"currency"`
	Balance       string        `json:"balance"`
	InWords       string        `json:"balance_in_words"`
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

// Of paints the portrait.
func Of(facts Facts, options Options) Portrait {
	if options.Now.IsZero() {
		options.Now = time.Now()
	}
	process := facts.Process
	painted := Portrait{
		Supplier: process.Key.Supplier, External: process.Key.External, State: string(process.State),
		AccountNumber: Maybe(process.AccountNumber), AccountCreatedAt: instant(process.AccountCreatedAt),
		SkipReason: process.SkipReason, Failure: failure(process.Failure),
		Undone: each(facts.Undone, undone), Events: each(facts.Events, event),
		Mails: each(facts.Mails, func(m landfall.MailRecord) Mail { return MailOf(m, options.Personal) }),
	}
	made := 0
	if facts.Account != nil {
		made = facts.Account.Revision
		painted.Account = account(facts.Account, options)
	}
	painted.Revisions = each(facts.Revisions, func(staged landfall.StagedRevision) Revision {
		return revision(staged, made, options.Staged)
	})
	return painted
}

// account turns each part into plain text and numbers, which all printers share.
func account(made *landfall.Account, options Options) *Account {
	data := made.Data
	return &Account{
		Revision: made.Revision, Team: made.Team, Currency: data.Currency,
		Balance: made.Balance.String(), InWords: Balance(made.Balance, data.Currency),
		CustomerCount: len(data.Customers), People: people(data, options),
		SupplyPoints: supplyPoints(data.SupplyAddresses),
		Periods:      each(made.Periods, period),
		Ledger:       each(made.Ledger, func(e landfall.LedgerEntry) Entry { return entry(e, options.Personal) }),
		Notes:        notes(data.Notes, options),
		Statements:   each(data.Statements, func(s landfall.Statement) Statement { return statement(s, options) }),
		Instructions: each(data.Instructions, instruction),
		Schedules:    each(data.PaymentSchedules, schedule),
	}
}

// Maybe is a text that may be absent: null for machines, nothing for people.
type Maybe string

// MarshalJSON tells absent from empty, as the API does.
func (m Maybe) MarshalJSON() ([]byte, error) {
	if m == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(m))
}

// each turns every item into another; no items are [] and not null.
func each[From, To any](items []From, turn func(From) To) []To {
	turned := make([]To, len(items))
	for i, item := range items {
		turned[i] = turn(item)
	}
	return turned
}
