package landfall

import "strings"

// Refusal is a refused staging of a known account.
type Refusal struct {
	Key     Key
	Failure Failure
	By      Author
}

// FailedProcess is an account with its newest failure.
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
)

// FailureQuery asks for failures in the order of external numbers.
type FailureQuery struct {
	Supplier string
	After    string // start behind this external number; "" starts at the beginning
	Limit    int    // 0 means all
	Which    FailureKind
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
