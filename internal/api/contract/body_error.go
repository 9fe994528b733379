package contract

import (
	"encoding/json"
	"slices"

	"landfall"
	"landfall/internal/api/rules"
)

// ViolationBody is one problem of a request.
var ViolationBody = &Body[landfall.Violation]{
	name: "Violation", doc: "A problem with the request. It never repeats the offending value.",
	members: []bodyMember[landfall.Violation]{
		stringMember("detail", detailDoc, func(v landfall.Violation) string { return v.Detail }),
		stringMember("code", codeDoc, func(v landfall.Violation) string { return v.Code }),
		stringMember("attr", "Dotted path of the field: names and zero-based indexes.", func(v landfall.Violation) string { return v.Attr }),
	},
	example: landfall.Violation{
		Code: CodeInvalidPhoneNumber, Attr: "customers.0.landline", Detail: "Not a possible phone number. Write foreign numbers with + and the country code.",
	},
}

const (
	detailDoc = "Message for people. The wording may change."
	codeDoc   = "Stable code for programs."
)

// ErrorBody is the body of every error, whatever its status.
var ErrorBody = &Body[*landfall.Error]{
	name: "Error", doc: "An error. Every error response has this form. Some codes add members.", open: true,
	members: append(newCommonMembers(),
		extraMember("external_account_number", "With `account_already_imported`."),
		extraMember("platform_account_number", "With `account_already_imported`."),
		extraMember("differences", "With `account_already_imported` of a staging: the attrs (at most 100, no values) in which the account sent differs "+
			"from the record of the existing one; empty if it is the same. With `payment_instruction_already_exists`: the fields that differ.").
			withSchema(arraySchema(stringSchema)),
	),
	write:   appendError,
	example: landfall.Refuse(landfall.CodeNotFound, "There is nothing at this path."),
}

// TransactionErrorBody is the body of a refused transactions request.
var TransactionErrorBody = &Body[*landfall.Error]{
	name: "TransactionImportError", doc: "A refused transactions request: the common error form plus the first transaction that failed.", open: true,
	members: append(newCommonMembers(),
		bodyMember[*landfall.Error]{
			name: "transaction_data", doc: "The failed transaction as sent, or null if no single transaction is at fault.",
			schema: anyValueSchema,
		},
		bodyMember[*landfall.Error]{name: "error_detail", doc: "Why the transaction failed.", schema: stringSchema},
		bodyMember[*landfall.Error]{name: "status", schema: enumSchema(TransactionImportError)},
	),
	write:   appendError,
	example: RefuseTransactions(landfall.Refuse(landfall.CodeAccountNotFound, "There is no such account.")),
}

// newCommonMembers declares what every error has.
func newCommonMembers() []bodyMember[*landfall.Error] {
	return []bodyMember[*landfall.Error]{
		stringMember("detail", detailDoc, func(e *landfall.Error) string { return e.Detail }),
		stringMember("code", codeDoc, func(e *landfall.Error) string { return e.Code }),
		listMember("errors", "", ViolationBody, func(e *landfall.Error) []landfall.Violation { return e.Violations }),
	}
}

// extraMember declares a member that some codes add.
func extraMember(name, doc string) bodyMember[*landfall.Error] {
	return bodyMember[*landfall.Error]{name: name, doc: doc, schema: stringSchema, present: func(e *landfall.Error) bool {
		return slices.ContainsFunc(e.Members, func(m landfall.Member) bool { return m.Name == name })
	}}
}

// appendError writes the common members and the members that the error adds.
// Which ones depends on its code.
func appendError(dst []byte, err *landfall.Error) []byte {
	dst = append(dst, '{')
	for _, member := range commonMembers {
		dst = member.write(rules.AppendName(dst, member.name), err)
	}
	for _, member := range err.Members {
		dst = appendAny(rules.AppendName(dst, member.Name), member.Value)
	}
	return append(dst, '}')
}

var commonMembers = newCommonMembers()

// appendAny writes the value of an extra member. A value that cannot be written
// is a programming error and becomes null.
func appendAny(dst []byte, value any) []byte {
	if text, is := value.(string); is {
		return rules.AppendString(dst, text)
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return append(dst, "null"...)
	}
	return append(dst, raw...)
}
