package landfall

import (
	"context"
	"strings"
)

// TermKind says what an account can be looked for by, besides its two numbers.
type TermKind string

// The kinds. Each is one letter, which is kept in front of every term.
const (
	TermName        TermKind = "n"
	TermEmail       TermKind = "e"
	TermPhone       TermKind = "p"
	TermPostcode    TermKind = "c"
	TermSupplyPoint TermKind = "s"
)

// Two more say by which number an account was found. Numbers are no terms: they
// stand where the account does, and are found the moment it is staged.
const (
	ByExternalNumber TermKind = "x"
	ByAccountNumber  TermKind = "a"
)

// Label is the kind in the words of the glossary.
func (k TermKind) Label() string {
	return map[TermKind]string{
		TermName: "name", TermEmail: "e-mail address", TermPhone: "phone number", TermPostcode: "postcode",
		TermSupplyPoint: "supply point", ByExternalNumber: "external account number", ByAccountNumber: "account number",
	}[k]
}

// SearchTerm is something an account is found by, spelled so that everybody who means
// the same writes the same.
type SearchTerm struct {
	Kind TermKind
	Text string
}

// TermEncoder says how terms are kept. Whoever keeps personal data secret keeps
// keyed hashes of them.
type TermEncoder interface {
	// Encode gives how a term is kept: first as one that is written now, then as
	// those may still be that were written under earlier keys.
	Encode(term SearchTerm) []string
	// ExactOnly says that terms are only found by the whole of them, because their
	// beginnings cannot be recognised.
	ExactOnly() bool
}

// PlainTerms keeps terms as they are, so that their beginnings are found too.
type PlainTerms struct{}

// Encode gives the term itself.
func (PlainTerms) Encode(term SearchTerm) []string { return []string{string(term.Kind) + term.Text} }

// ExactOnly is false.
func (PlainTerms) ExactOnly() bool { return false }

// SearchQuery asks for accounts of any supplier by what they may be called.
type SearchQuery struct {
	Numbers   []string // how an account number may begin
	Externals []string // how an external account number may begin
	Terms     []SearchTerm
	Limit     int // how many accounts at most
}

// SearchResult is the answer to a FindQuery.
type SearchResult struct {
	Accounts []SearchHit // numbers first, then in the order of the terms asked for; each account once
	More     bool        // there are more than were asked for
	// Whole says that names, addresses and the like were only found by the
	// whole of them.
	ExactOnly bool
	// Behind is how many events of the log the search has not seen yet: of the
	// accounts created in them only the numbers are found.
	Unindexed int64
}

// SearchHit is one account that was found, and by what.
type SearchHit struct {
	Key           Key
	State         ProcessState
	Failed        bool   // its last attempt failed
	AccountNumber string // "" until imported
	Name          string // on the bills, or the first customer's; personal
	By            TermKind
}

// AccountNumberPrefix gives a text as an account number would be written that begins
// with it, and whether one can: numbers are read over the telephone, and typed
// with small letters and without their dash.
func AccountNumberPrefix(text string) (string, bool) {
	text = strings.ToUpper(text)
	if len(text) > 1 && text[0] == 'A' && text[1] != '-' {
		text = "A-" + text[1:]
	}
	rest, found := strings.CutPrefix(text, "A-")
	return text, found && rest != "" && len(rest) <= accountDigits+1 && strings.Trim(rest, crockford) == ""
}

// IndexStep is the result of one step of indexing accounts.
type IndexStep struct {
	Accounts int   // indexed by this step
	Newest   int64 // the newest event in the log
	More     bool  // another step may find more
}

// Searcher searches accounts across suppliers and maintains the search index.
type Searcher interface {
	// Search returns the accounts that match a query, never more than its limit,
	// and takes no longer with more accounts. An account is found by its external
	// number from its first staging on, by its own number from its creation on, and
	// by everything else soon after that, until it is undone.
	Search(ctx context.Context, query SearchQuery) (SearchResult, error)

	// IndexTerms indexes the terms of a few hundred accounts created since the last
	// call, as far as the log of events is complete. It can be interrupted and run
	// concurrently: no account is left out, and no undone account is indexed.
	IndexTerms(ctx context.Context) (IndexStep, error)
}
