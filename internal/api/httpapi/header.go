package httpapi

import (
	"net/http"

	"landfall"
	"landfall/internal/api/answer"
	"landfall/internal/api/rules"
)

// maxHeaderFields is several times what a browser behind several proxies sends.
// The server limits the size of the header.
const maxHeaderFields = 200

// countFields returns the number of header fields.
func countFields(header http.Header) int {
	count := 0
	for _, values := range header {
		count += len(values)
	}
	return count
}

// deliveryHeader names the delivery that a request belongs to.
const deliveryHeader = "Landfall-Delivery"

// readDelivery reads the delivery that a request names; "" if it names none. A wrong
// name is refused, because the accounts could not be found by it later.
func readDelivery(header http.Header) (string, error) {
	named := header[deliveryHeader]
	switch {
	case len(named) == 0:
		return "", nil
	case len(named) == 1 && landfall.ValidDelivery(named[0]):
		return named[0], nil
	}
	refusal := landfall.Refuse(landfall.CodeValidationFailed, "The request is not valid.")
	refusal.Violations = []landfall.Violation{{
		Code: rules.CodeInvalidCharacters, Attr: deliveryHeader, Detail: "Send this header once, with up to 64 letters, digits and . _ -.",
	}}
	return "", refusal
}

// cursorHeader has a cursor of the event feed.
const cursorHeader = "Landfall-Cursor"

// takesDelivery reports whether a route stores the delivery.
func takesDelivery(r *route) bool {
	switch r.verb {
	case answer.Stage, answer.Notes, answer.Transactions, answer.Statements, answer.Instruction:
		return true
	}
	return false
}

var deliveryParameter = parameter{
	name: deliveryHeader,
	description: "Id of the delivery that the request belongs to, such as one book or one night's export. A run can be limited to the accounts " +
		"that a delivery staged last. When an account is undone, what the same delivery added to it is undone with it; an addition of " +
		"another delivery, or of none, keeps the account.",
	schema: object{{"type", "string"}, {"pattern", "^[A-Za-z0-9._-]{1,64}$"}}, example: "north-2026-11-21",
}
