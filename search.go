package landfall

import "strings"

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

// Word is the kind in the words of the glossary.
func (k TermKind) Word() string {
	return map[TermKind]string{
		TermName: "name", TermEmail: "e-mail address", TermPhone: "phone number", TermPostcode: "postcode",
		TermSupplyPoint: "supply point", ByExternalNumber: "external account number", ByAccountNumber: "account number",
	}[k]
}

// Term is something an account is found by, spelled so that everybody who means
// the same writes the same.
type Term struct {
	Kind TermKind
	Text string
}

// TermForm says how terms are kept. Whoever keeps personal data secret keeps
// keyed hashes of them.
type TermForm interface {
	// Forms gives how a term is kept: first as one that is written now, then as
	// those may still be that were written under earlier keys.
	Forms(term Term) []string
	// Whole says that terms are only found by the whole of them, because their
	// beginnings cannot be recognised.
	Whole() bool
}

// PlainTerms keeps terms as they are, so that their beginnings are found too.
type PlainTerms struct{}

// Forms gives the term itself.
func (PlainTerms) Forms(term Term) []string { return []string{string(term.Kind) + term.Text} }

// Whole is false.
func (PlainTerms) Whole() bool { return false }

// FindQuery asks for accounts of any supplier by what they may be called.
type FindQuery struct {
	Numbers   []string // how an account number may begin
	Externals []string // how an external account number may begin
	Terms     []Term
	Limit     int // how many accounts at most
}

// Found is the answer to a FindQuery.
type Found struct {
	Accounts []FoundAccount // numbers first, then in the order of the terms asked for; each account once
	More     bool           // there are more than were asked for
	// Whole says that names, addresses and the like were only found by the
	// whole of them.
	Whole bool
	// Behind is how many events of the log the search has not seen yet: of the
	// accounts created in them only the numbers are found.
	Behind int64
}

// FoundAccount is one account that was found, and by what.
type FoundAccount struct {
	Key           Key
	State         ProcessState
	Failed        bool   // its last attempt failed
	AccountNumber string // "" until imported
	Name          string // on the bills, or the first customer's; personal
	By            TermKind
}

// NumberTyped gives a text as an account number would be written that begins
// with it, and whether one can: numbers are read over the telephone, and typed
// with small letters and without their dash.
func NumberTyped(text string) (string, bool) {
	text = strings.ToUpper(text)
	if len(text) > 1 && text[0] == 'A' && text[1] != '-' {
		text = "A-" + text[1:]
	}
	rest, found := strings.CutPrefix(text, "A-")
	return text, found && rest != "" && len(rest) <= accountDigits+1 && strings.Trim(rest, crockford) == ""
}
