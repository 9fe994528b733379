package landfall

import (
	"context"
	"strings"
)

// TermKind is the kind of a search term.
type TermKind string

// The kinds. Each is one letter, which is stored in front of every term.
const (
	TermName        TermKind = "n"
	TermEmail       TermKind = "e"
	TermPhone       TermKind = "p"
	TermPostcode    TermKind = "c"
	TermSupplyPoint TermKind = "s"
)

// The kinds of hits by number. Numbers are not indexed as terms: they are columns
// of the account and can be searched as soon as it is staged.
const (
	ByExternalNumber TermKind = "x"
	ByAccountNumber  TermKind = "a"
)

// Label returns the name of the kind for users.
func (k TermKind) Label() string {
	return map[TermKind]string{
		TermName: "name", TermEmail: "e-mail address", TermPhone: "phone number", TermPostcode: "postcode",
		TermSupplyPoint: "supply point", ByExternalNumber: "external account number", ByAccountNumber: "account number",
	}[k]
}

// SearchTerm is a normalized text that an account is found by.
type SearchTerm struct {
	Kind TermKind
	Text string
}

// TermEncoder encodes terms for the index. A store that encrypts personal data
// stores keyed hashes.
type TermEncoder interface {
	// Encode returns the encodings of a term: first the one that is written now, then
	// those of earlier keys that may still be stored. It returns nothing for a term
	// that is not indexed.
	Encode(term SearchTerm) []string
	// ExactOnly reports whether terms are found by the whole text only, because
	// prefixes of hashes mean nothing.
	ExactOnly() bool
}

// PlainTerms stores terms as they are, so that prefixes are found too.
type PlainTerms struct{}

// Encode returns the term itself.
func (PlainTerms) Encode(term SearchTerm) []string { return []string{string(term.Kind) + term.Text} }

// ExactOnly returns false.
func (PlainTerms) ExactOnly() bool { return false }

// SearchQuery asks for accounts of any supplier.
type SearchQuery struct {
	Numbers   []string // prefixes of account numbers
	Externals []string // prefixes of external account numbers
	Terms     []SearchTerm
	Limit     int // at most this many accounts
}

// SearchResult is the answer to a SearchQuery.
type SearchResult struct {
	Accounts []SearchHit // numbers first, then in the order of the terms asked for; each account once
	More     bool        // there are more than the limit
	// ExactOnly is set when names, addresses and the like were found by their whole
	// text only.
	ExactOnly bool
	// Unindexed is how many events are not indexed yet. Accounts created in them are
	// found by their numbers only.
	Unindexed int64
}

// SearchHit is an account that was found, and by what.
type SearchHit struct {
	Key           Key
	State         ProcessState
	Failed        bool   // its last attempt failed
	AccountNumber string // "" until imported
	Name          string // on the bills, or the first customer's; personal
	By            TermKind
}

// AccountNumberPrefix normalizes the beginning of an account number as a user
// typed it, in small letters or without the dash, and reports whether it can be
// one.
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
