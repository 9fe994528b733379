package landfall

import "strings"

// Refusal is a staging that was refused, of an account it named.
type Refusal struct {
	Key     Key
	Failure Failure
	By      Author
}

// FailedProcess is one account that does not get on.
type FailedProcess struct {
	External string
	Failure  Failure
}

// FailureKind says which of an account's failures counts, its newest, is wanted.
type FailureKind uint8

// The kinds.
const (
	AnyFailure      FailureKind = iota
	AttemptFailures             // accounts that were staged and could not be created
	StagingRefusals             // accounts whose staging was refused
)

// FailureQuery asks for failures in the order of external numbers.
type FailureQuery struct {
	Supplier string
	After    string // start behind this external number; "" starts at the beginning
	Limit    int    // 0 means all
	Which    FailureKind
}

// FailureGroup counts the failures that look the same: one code at one place.
type FailureGroup struct {
	Code     string
	Attr     string // with * for any item of a list: customers.*.landline
	Accounts int    // how many processes have it
	Alone    int    // how many of those have nothing else wrong
}

// AttrPattern gives the attr of a violation with * for every number in it, so
// that the same mistake has the same name wherever in a list it is made.
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
