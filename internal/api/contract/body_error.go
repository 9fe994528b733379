package contract

import (
	"encoding/json"
	"slices"

	"landfall"
	"landfall/internal/api/rules"
)

// ViolationBody is one thing wrong with a request.
var ViolationBody = &Body[landfall.Violation]{
	name: "Violation", doc: "One thing wrong with a request. It never repeats the offending value.",
	members: []member[landfall.Violation]{
		stringMember("detail", detailDoc, func(v landfall.Violation) string { return v.Detail }),
		stringMember("code", codeDoc, func(v landfall.Violation) string { return v.Code }),
		stringMember("attr", "Dotted path of the input: field names and zero-based indexes.", func(v landfall.Violation) string { return v.Attr }),
	},
	example: landfall.Violation{
		Code: CodeInvalidPhoneNumber, Attr: "customers.0.landline", Detail: "This is not a possible phone number.",
	},
}

const (
	detailDoc = "For people. Its wording may change."
	codeDoc   = "For machines. It is stable."
)

// ErrorBody is what every refusal looks like, whatever its status.
var ErrorBody = &Body[*landfall.Error]{
	name: "Error", doc: "Every error, whatever its status. Some codes add members of their own.", open: true,
	members: append(newCommonMembers(),
		extraMember("external_account_number", "With `account_already_imported`."),
		extraMember("platform_account_number", "With `account_already_imported`."),
	),
	write:   appendError,
	example: landfall.Refuse(landfall.CodeNotFound, "There is nothing at this path."),
}

// TransactionErrorBody is what a refusal of transactions looks like.
var TransactionErrorBody = &Body[*landfall.Error]{
	name: "TransactionImportError", doc: "A refused request: the common error form and the first transaction that fails.", open: true,
	members: append(newCommonMembers(),
		member[*landfall.Error]{
			name: "transaction_data", doc: "The transaction as it was sent; null when none in particular is at fault.",
			schema: anyValueSchema,
		},
		member[*landfall.Error]{name: "error_detail", doc: "Why that transaction fails.", schema: stringSchema},
		member[*landfall.Error]{name: "status", schema: enumSchema(TransactionImportError)},
	),
	write:   appendError,
	example: RefuseTransactions(landfall.Refuse(landfall.CodeAccountNotFound, "There is no such account.")),
}

// newCommonMembers declares what every refusal has.
func newCommonMembers() []member[*landfall.Error] {
	return []member[*landfall.Error]{
		stringMember("detail", detailDoc, func(e *landfall.Error) string { return e.Detail }),
		stringMember("code", codeDoc, func(e *landfall.Error) string { return e.Code }),
		listMember("errors", "", ViolationBody, func(e *landfall.Error) []landfall.Violation { return e.Violations }),
	}
}

// extraMember declares a member that some codes add.
func extraMember(name, doc string) member[*landfall.Error] {
	return member[*landfall.Error]{name: name, doc: doc, schema: stringSchema, present: func(e *landfall.Error) bool {
		return slices.ContainsFunc(e.Members, func(m landfall.Member) bool { return m.Name == name })
	}}
}

// appendError writes the common members and those that the refusal brings
// along, which its code decides and not its table.
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

// appendAny writes the value of an extra member. The values are ours, so one
// that cannot be written is a mistake of ours and shows as null.
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
