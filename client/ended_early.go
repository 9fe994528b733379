package client

import (
	"encoding/json"
	"fmt"
)

// MaxEarlyEnds is how often a page of whole accounts may end early at the same account before readers
// give up. A network that fails does not choose the same account that often.
const MaxEarlyEnds = 5

// EndedEarlyError says that the server ends its accounts early at the same one every time. Trying again
// does not help.
type EndedEarlyError struct {
	Behind string // external account number of the last account that arrived; "" if unknown
	Err    error  // how the last page ended
}

func (e *EndedEarlyError) Error() string {
	where := "at the start of a page"
	if e.Behind != "" {
		where = "behind account " + e.Behind
	}
	return fmt.Sprintf("the server ended its answer %d times %s: one of the next accounts may be damaged; the server's log names it, and 'landfall verify' finds all that are (%v)",
		MaxEarlyEnds, where, e.Err)
}

func (e *EndedEarlyError) Unwrap() error { return e.Err }

// ExternalNumber returns the external account number of a whole account as the server sent it.
func ExternalNumber(account []byte) string {
	var head struct {
		External string `json:"external_account_number"`
	}
	if json.Unmarshal(account, &head) != nil {
		return ""
	}
	return head.External
}
