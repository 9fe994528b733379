package landfall

import (
	"context"
	"strings"

	"landfall/internal/lib/calendar"
)

// IdentifierKind says what an Identifier names.
type IdentifierKind string

// The kinds. The last one is not stored with the others: the process has it.
const (
	IdentifierSupplyPoint    IdentifierKind = "supply_point"
	IdentifierInstruction    IdentifierKind = "payment_instruction"
	IdentifierReference      IdentifierKind = "reference"
	IdentifierExternalNumber IdentifierKind = "external_account_number"
)

// IdentifierKinds lists all kinds.
var IdentifierKinds = []IdentifierKind{
	IdentifierSupplyPoint, IdentifierInstruction, IdentifierReference, IdentifierExternalNumber,
}

// identifierSeparator separates the parts of an identifier. No field of an
// account may contain it.
const identifierSeparator = "\x1f"

// Identifier names something that should belong to one account only: a supply
// point, a payment instruction, a reference, or the account's own number.
type Identifier struct {
	Kind   IdentifierKind
	Space  string // supply type, vendor, or namespace
	Value  string
	FromOn calendar.Day // first day; zero: since ever
	ToOn   calendar.Day // last day; zero: for ever
	Attr   string       // where it is in the document
	Unique bool         // the account is refused when another one has it
}

// Text returns the identifier as one text, without its period.
func (i *Identifier) Text() string {
	return string(i.Kind) + identifierSeparator + i.Space + identifierSeparator + i.Value
}

// SetText is the inverse of Text.
func (i *Identifier) SetText(text string) {
	kind, rest, _ := strings.Cut(text, identifierSeparator)
	i.Kind = IdentifierKind(kind)
	i.Space, i.Value, _ = strings.Cut(rest, identifierSeparator)
}

// Overlaps reports whether the periods of two identifiers share a day.
func (i *Identifier) Overlaps(other *Identifier) bool {
	starts := func(from, to calendar.Day) bool { return from.IsZero() || to.IsZero() || !from.After(to) }
	return starts(i.FromOn, other.ToOn) && starts(other.FromOn, i.ToOn)
}

// Conflict is an identifier of an account that another account has too.
type Conflict struct {
	Identifier Identifier
	Other      Key
	Created    bool // the other account exists; otherwise it is staged
}

// ConflictQuery asks which identifiers of an account others have too.
type ConflictQuery struct {
	Key         Key
	Identifiers []Identifier
}

// DuplicateQuery asks for the pairs of accounts that share an identifier.
type DuplicateQuery struct {
	Supplier string // one account of each pair has this one
	Kinds    []IdentifierKind
	After    *DuplicateCursor // start after this pair; nil starts at the beginning
	Limit    int              // 0 means all
	Scan     int              // stop after about so many identifiers, with a Duplicate that says so; 0 means never
}

// DuplicateCursor is a position in a list of duplicates, which is in the order of the
// first account's number.
type DuplicateCursor struct {
	Name    string // external number of the first account
	Ordinal int64  // of its identifier
	Other   int64  // the other process
}

// Duplicate is a pair of accounts that have an identifier at the same time.
type Duplicate struct {
	Identifier Identifier // of the first account
	First      ProcessEntry
	Second     ProcessEntry
	Supplier   string // of the second account
	Cursor     DuplicateCursor
	Unfinished bool // this is not a pair: the search stopped at Cursor
}

// DuplicateReader finds accounts that share identifiers. Accounts count when
// they exist or are staged, in the suppliers that have an organisation in common
// with the supplier of the account.
type DuplicateReader interface {
	// Conflicts returns, for each query, which of its identifiers another account
	// has at the same time, at most one other account for each. A created account
	// is returned rather than a staged one.
	Conflicts(ctx context.Context, queries []ConflictQuery) ([][]Conflict, error)
	// Identifiers returns the stored identifiers of a process.
	Identifiers(ctx context.Context, key Key) ([]Identifier, error)
}
