package landfall

import (
	"iter"
	"strings"
)

// Refusal is a refused staging of a known account.
type Refusal struct {
	Key      Key
	Failure  Failure
	By       Author
	Document []byte // the part of the document by which the account is found; personal
}

// PostingKind is a kind of posting, as it is named on the wire.
type PostingKind string

// The kinds of posting.
const (
	PostingNotes        PostingKind = "NOTES"
	PostingInstruction  PostingKind = "PAYMENT_INSTRUCTION"
	PostingStatements   PostingKind = "STATEMENTS"
	PostingTransactions PostingKind = "TRANSACTIONS"
	// PostingTarget is no posting: the target refused the account or something of it.
	PostingTarget PostingKind = "TARGET"
)

// PostingAccount stands for another delivery of an account that exists and
// differs. The last one is on record with the attrs that differ. It is no failed
// posting: lists of failures do not have it.
const PostingAccount PostingKind = "ACCOUNT"

// PostingKinds lists the kinds in the order in which they are listed.
var PostingKinds = []PostingKind{PostingNotes, PostingInstruction, PostingStatements, PostingTarget, PostingTransactions}

// PostingRefusal is a refused posting to an account that exists.
type PostingRefusal struct {
	Key     Key
	Kind    PostingKind
	Failure Failure
	By      Author
}

// FailedProcess is an account with its newest failure. An account that exists has
// one for each kind of posting that was refused last.
type FailedProcess struct {
	External string
	Failure  Failure
}

// FailureKind selects accounts by the kind of their newest failure.
type FailureKind uint8

// The kinds.
const (
	AnyFailure      FailureKind = iota
	AttemptFailures             // accounts that were staged and could not be created
	StagingRefusals             // accounts whose staging was refused
	PostingRefusals             // accounts to which something could not be added, or that a target refused
)

// FailureQuery asks for failures in the order of external numbers.
type FailureQuery struct {
	Supplier string
	After    string // start behind this external number; "" starts at the beginning
	// AfterPosting is the kind of the last failure of that number, if it was a
	// refused posting; then the other kinds of the number follow.
	AfterPosting PostingKind
	Limit        int // 0 means all
	Which        FailureKind
	// ByState lists every account under its state alone: AttemptFailures also has the
	// accounts whose staging was refused since, and StagingRefusals only those that
	// were never staged.
	ByState bool
}

// OnePerAccount joins the failures of each account into one, so that an account
// with several refused postings is counted once. The rows are in the order of
// external numbers.
func OnePerAccount(rows iter.Seq2[FailedProcess, error]) iter.Seq2[FailedProcess, error] {
	return func(yield func(FailedProcess, error) bool) {
		var joined *FailedProcess
		for row, err := range rows {
			switch {
			case err != nil:
				yield(FailedProcess{}, err)
				return
			case joined != nil && joined.External == row.External:
				joined.Failure.Violations = append(joined.Failure.places(), row.Failure.places()...)
				continue
			case joined != nil && !yield(*joined, nil):
				return
			}
			joined = &row
		}
		if joined != nil {
			yield(*joined, nil)
		}
	}
}

// places returns the violations of a failure; one without any is a violation
// itself.
func (f *Failure) places() []Violation {
	if len(f.Violations) == 0 {
		return []Violation{{Code: f.Code}}
	}
	return f.Violations
}

// FailureGroup counts the failures with the same code and attribute.
type FailureGroup struct {
	Code     string
	Attr     string // with * for any item of a list: customers.*.landline
	Accounts int    // how many processes have it
	Alone    int    // how many of those have no other failure
}

// AttrPattern replaces every number in the attr of a violation by *, so that the
// same mistake in different items of a list has the same name.
func AttrPattern(attr string) string {
	if !strings.ContainsAny(attr, "0123456789") {
		return attr
	}
	parts := strings.Split(attr, ".")
	for i, part := range parts {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}
