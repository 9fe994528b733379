package httpapi

import (
	"encoding/json"
	"slices"

	"landfall"
	"landfall/internal/api/contract"
)

func requestContent(schema, example string) *mediaContent {
	return &mediaContent{schema: schema, example: json.RawMessage(example)}
}

// responseContent is the content of a response with a declared body.
func responseContent(body contract.Answer) *mediaContent {
	return &mediaContent{schema: body.Name(), example: body.Example()}
}

// errorContent is the content of an error response.
func errorContent(example *landfall.Error) *mediaContent {
	return &mediaContent{schema: contract.ErrorBody.Name(), example: json.RawMessage(contract.ErrorBody.Append(nil, example))}
}

// Example errors. A test sends requests that cause them and compares.
var (
	exampleRefusal = exampleViolation(landfall.CodeAccountFailedValidation, "The account data is not valid.", landfall.Violation{
		Code: contract.CodeInvalidEmail, Attr: "customers.0.email", Detail: "Must be a single email address without a display name.",
	})
	exampleImported = &landfall.Error{
		Code: landfall.CodeAlreadyImported, Detail: "This account has already been imported.",
		Members: []landfall.Member{
			{Name: "external_account_number", Value: "EXT-0001"},
			{Name: "platform_account_number", Value: "A-7K2M9QXZ"},
		},
	}
	exampleImportedOther = &landfall.Error{
		Code: exampleImported.Code, Detail: exampleImported.Detail,
		Members: append(slices.Clone(exampleImported.Members), landfall.Member{Name: "differences", Value: []string{"customers.0.family_name"}}),
	}
	exampleNoAccount  = exampleError(landfall.CodeAccountNotFound, "There is no account for this import supplier and external account number.")
	exampleNoDelivery = exampleError(landfall.CodeNotFound, "The delivery does not exist.")
	exampleNoSupplier = exampleError(landfall.CodeSupplierUnknown, "There is no import supplier with this code.")
	exampleBadLimit   = exampleViolation(landfall.CodeValidationFailed, "The query parameters are not valid.", landfall.Violation{
		Code: "out_of_range", Attr: "limit", Detail: "Must be a whole number from 1 to 10000.",
	})
	exampleNegativeTotal = exampleViolation(landfall.CodeValidationFailed, "The request is not valid.", landfall.Violation{
		Code: "out_of_range", Attr: "accounts", Detail: "Must be from 0 to 1000000000000.",
	})
	exampleBadParameter = exampleViolation(landfall.CodeValidationFailed, "The query parameters are not valid.", landfall.Violation{
		Code: contract.CodeUnknownParameter, Attr: "verbose", Detail: "Unknown parameter.",
	})
	exampleDryRun = exampleError(landfall.CodeDryRunRolledBack,
		"The account would successfully import. It was rolled back due to the dry run.")
	exampleOverLimit = exampleError(landfall.CodeConcurrencyLimit,
		"Too many accounts are being created at once. Try again when others have finished.")
	exampleEmptyNote = exampleViolation(landfall.CodeValidationFailed, "The request is not valid.", landfall.Violation{
		Code: contract.CodeNoteEmpty, Attr: "notes.0.body", Detail: "A note must have a body or a document path.",
	})
	exampleStatementError    = exampleOwnViolation(landfall.CodeStatementExists, "statements.0.statement_id", "The account has a statement with this statement_id and other content.")
	exampleInstructionError  = exampleOwnViolation(landfall.CodeInstructionNotFound, "reference", "The payment vendor has no instruction with this reference.")
	exampleNoRoute           = exampleError(landfall.CodeNotFound, "There is nothing at this path.")
	exampleNotReady          = exampleError(landfall.CodeServiceUnavailable, "The service is shutting down.")
	exampleVendorUnavailable = exampleError(landfall.CodeVendorUnavailable, "The payment vendor cannot be reached right now. Nothing was stored; retry the same request.")
)

// exampleTransactionError is the error for a transaction outside the open
// period.
var exampleTransactionError = &mediaContent{
	schema: contract.TransactionErrorBody.Name(),
	example: json.RawMessage(contract.TransactionErrorBody.Append(nil, &landfall.Error{
		Code: landfall.CodeOutsideOpenPeriod, Detail: outsidePeriod,
		Violations: []landfall.Violation{{
			Code: landfall.CodeOutsideOpenPeriod, Attr: "transactions.0.transaction_date", Detail: outsidePeriod,
		}},
		Members: []landfall.Member{
			{Name: "transaction_data", Value: json.RawMessage(`{"transaction_id":"T-1002","transaction_date":"2019-11-03",` +
				`"amount":"52.50","type":"PAYMENT"}`)},
			{Name: "error_detail", Value: outsidePeriod},
			{Name: "status", Value: contract.TransactionImportError},
		},
	})),
}

// outsidePeriod appears twice in its example, as the contract requires.
const outsidePeriod = "The transaction is not within the open statement period."

// exampleError is an error without violations.
func exampleError(code, detail string) *landfall.Error { return landfall.Refuse(code, detail) }

func exampleViolation(code, detail string, violations ...landfall.Violation) *landfall.Error {
	refusal := landfall.Refuse(code, detail)
	refusal.Violations = violations
	return refusal
}

// exampleOwnViolation is an error whose only violation has the same code and
// detail.
func exampleOwnViolation(code, attr, detail string) *landfall.Error {
	return exampleViolation(code, detail, landfall.Violation{Code: code, Attr: attr, Detail: detail})
}

// The examples of the token service, which uses GraphQL.
var (
	exampleTokenRequest = object{
		{"query", "mutation($key: String) { obtainServiceToken(input: {apiKey: $key}) { token expiresIn refreshToken refreshExpiresIn } }"},
		{"variables", object{{"key", "<API_KEY>"}}},
	}
	// Placeholders instead of realistic values, because secret scanners and people
	// would take those for real keys.
	exampleToken = object{
		{"data", object{{"obtainServiceToken", object{
			{"token", "<ACCESS_TOKEN>"},
			{"expiresIn", 3600},
			{"refreshToken", "<REFRESH_TOKEN>"},
			{"refreshExpiresIn", 604800},
		}}}},
	}
	exampleTypeName     = object{{"data", object{{"__typename", "Query"}}}}
	exampleTokenRefused = object{
		{"errors", []object{{{"message", "The request is not understood."}}}},
	}
)
