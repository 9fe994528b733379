package landfall

import (
	"context"
	"strings"

	"landfall/internal/lib/money"
)

// TermKind is the kind of a search term.
type TermKind string

// The kinds. Each is one letter, which is stored in front of every term.
const (
	TermName        TermKind = "n"
	TermEmail       TermKind = "e"
	TermPhone       TermKind = "p"
	TermPostcode    TermKind = "c"
	TermAddress     TermKind = "d" // a word of an address
	TermSupplyPoint TermKind = "s"
	// TermNumber is any number of an account backwards, so that it is found by its
	// last characters: its external number, supply points, meters and payment references.
	TermNumber TermKind = "t"
)

// The kinds of hits by the two account numbers, which are columns of the account and
// can be searched as soon as it is staged.
const (
	ByExternalNumber TermKind = "x"
	ByAccountNumber  TermKind = "a"
)

// Label returns the name of the kind for users.
func (k TermKind) Label() string {
	return map[TermKind]string{
		TermName: "name", TermEmail: "e-mail address", TermPhone: "phone number", TermPostcode: "postcode",
		TermAddress: "address", TermSupplyPoint: "supply point", TermNumber: "number", ByExternalNumber: "external account number", ByAccountNumber: "account number",
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

// SearchQuery asks for accounts.
type SearchQuery struct {
	Numbers     []string // prefixes of account numbers
	NumberTails []string // ends of account numbers, NumberTail characters or more
	Externals   []string // prefixes of external account numbers
	Words       []SearchWord
	// Suppliers are the suppliers whose accounts are searched. If it is nil, all are.
	Suppliers []string
	Limit     int // at most this many accounts
}

// NumberTail is how many characters of the end of a number are needed to find it.
const NumberTail = 4

// SearchWord is one word of a query, with everything that it may mean. An account is
// found if it matches every word.
type SearchWord struct {
	Matches []TermMatch
	// Similar are whole terms with one typing mistake less or more. They are used if
	// the words as they were typed find few accounts.
	Similar []SearchTerm
}

// TermMatch matches terms that begin with a text.
type TermMatch struct {
	SearchTerm
	Ending string // the terms also end with it
	// Inexact is set if the text is only a part of a term even when it is complete.
	// Such a match is of no use where terms are found by their whole text only.
	Inexact bool
}

// SearchResult is the answer to a SearchQuery.
type SearchResult struct {
	Accounts []SearchHit // numbers first, then words as they were typed, then similar words; each account once
	More     bool        // there are more than the limit, or too many to look at
	// ExactOnly is set when names, addresses and the like were found by their whole
	// text only.
	ExactOnly bool
	// Unindexed is set when accounts were staged that are not indexed yet. They are
	// found by their numbers only.
	Unindexed bool
}

// SearchHit is an account that was found, and by what.
type SearchHit struct {
	Key           Key
	State         ProcessState // "" if its staging was refused and it was never staged
	Failed        bool         // its last attempt failed
	Refused       bool         // its last staging was refused
	AccountNumber string       // "" until imported
	Balance       money.Amount // of an account that exists
	Currency      string       // of an account that exists
	Document      []byte       // staged last, or the part of a refused one that is kept; nil if it is large. Personal
	By            TermKind
	Similar       bool // found with a typing mistake
	SearchPerson
}

// SearchPerson is by what people tell two accounts apart. It is personal.
type SearchPerson struct {
	Name     string // on the bills, or the first customer's
	Town     string
	Postcode string
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

// AccountNumberTail reports whether a text can be the end of an account number.
func AccountNumberTail(text string) bool {
	return len(text) <= accountDigits+1 && strings.Trim(text, crockford) == ""
}

// IndexStep is the result of one step of indexing accounts.
type IndexStep struct {
	Accounts int   // indexed by this step
	Newest   int64 // the newest entry of the audit
	More     bool  // another step may find more
}

// Searcher searches accounts across suppliers and maintains the search index.
type Searcher interface {
	// Search returns the accounts that match a query, never more than its limit. It
	// reads a limited number of rows, however many accounts there are. An account is
	// found by its external number from its first staging on, by its own number from
	// its creation on, and by everything else soon after it was staged or refused.
	Search(ctx context.Context, query SearchQuery) (SearchResult, error)

	// IndexTerms indexes a few hundred accounts that were staged or refused since the
	// last call. It can be interrupted and run concurrently: no account is left out,
	// and no erased or purged account is indexed.
	IndexTerms(ctx context.Context) (IndexStep, error)

	// CorrectTerms indexes those of the next few hundred accounts again that are not
	// found by what their documents say. The first call begins after 0. Accounts whose
	// documents cannot be read keep what is indexed.
	CorrectTerms(ctx context.Context, after int64) (TermsStep, error)
}

// TermsStep is the result of one step of correcting the search index.
type TermsStep struct {
	Seen, Corrected int   // accounts
	Next            int64 // where the next step begins
	Done            bool
}
