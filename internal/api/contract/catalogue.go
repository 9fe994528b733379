package contract

import (
	"net/http"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
)

// CodeEntry documents one error code.
type CodeEntry struct {
	Code     string
	Status   []int             // HTTP statuses it comes with
	Where    string            // the whole response, or the attr of the violation
	Severity landfall.Severity // default severity of a rule; error for all others
	Meaning  string
}

const (
	wholeResponse = "response"
	anyValue      = "any value"
	anyText       = "any string"
)

// Codes returns every error code of the program, sorted. A test compares it with
// the code constants of all packages.
func Codes() []CodeEntry {
	codes := slices.Clone(responseCodes)
	codes = append(codes, violationCodes...)
	for _, rule := range ruleBook {
		codes = append(codes, CodeEntry{
			Code: rule.Code, Status: []int{http.StatusBadRequest},
			Where: rule.Where, Severity: rule.Severity, Meaning: rule.Meaning,
		})
	}
	slices.SortFunc(codes, func(a, b CodeEntry) int { return strings.Compare(a.Code, b.Code) })
	return codes
}

// responseCode declares a code of a whole response.
func responseCode(code, meaning string, status ...int) CodeEntry {
	return CodeEntry{Code: code, Status: status, Where: wholeResponse, Severity: asError, Meaning: meaning}
}

// violationCode declares a code that only appears in a violation.
func violationCode(code, where, meaning string) CodeEntry {
	return CodeEntry{Code: code, Status: []int{http.StatusBadRequest}, Where: where, Severity: asError, Meaning: meaning}
}

// responseCodes are the codes of whole responses.
var responseCodes = []CodeEntry{
	responseCode(landfall.CodeInternalError, "An error on our side. Send the same request again. If it keeps failing, contact the operator and quote the X-Request-ID.", 500),
	responseCode(landfall.CodeServiceUnavailable, "The database is unavailable, the service is overloaded or it is shutting down. Send the same request again later.", 503),
	responseCode(landfall.CodeNotAuthenticated, "The request has no token.", 401),
	responseCode(landfall.CodeAuthenticationFailed, "The token is unknown, expired or revoked.", 401),
	responseCode(landfall.CodePermissionDenied, "The API key is read-only.", 403),
	responseCode(landfall.CodeNotFound, "There is nothing at this path.", 404),
	responseCode(landfall.CodeMethodNotAllowed, "The path does not support this method. The Allow header lists the methods it supports.", 405),
	responseCode(landfall.CodePayloadTooLarge, "The body is larger than the service accepts.", 413),
	responseCode(landfall.CodeUnsupportedMedia, "The Content-Type is not application/json in UTF-8.", 415),
	responseCode(landfall.CodeTooManyRequests, "Too many requests. Wait for the time given in the Retry-After header.", 429),
	responseCode(landfall.CodeHeaderTooLarge, "The request has too many header fields.", 431),
	responseCode(landfall.CodeQuotaExceeded, "Your organisation is over a quota; `quota` names it. Wait for the time given in the Retry-After header. Without that header, waiting does not help.", 400, 429),
	responseCode(rules.CodeMalformedJSON, "The body is not exactly one valid JSON object: it has a syntax error, trailing data or a duplicate field, is nested too deeply, or is not UTF-8.", 400),
	responseCode(landfall.CodeValidationFailed, "The request is not valid. `errors` lists what is wrong and where.", 400),
	responseCode(landfall.CodeAccountFailedValidation, "The account is not valid. `errors` lists what is wrong and where.", 400),
	responseCode(landfall.CodeSupplierUnknown, "The import supplier does not exist or is not granted to your organisation. In an account object the error points at import_supplier.", 400, 404),
	responseCode(landfall.CodeNoControlTotals, "No control totals have been set for this import supplier.", 404),
	responseCode(landfall.CodeSupplierNotOngoing, "The operator has paused this supplier's migration (no writes are accepted) or completed it (no accounts can be staged or created).", 400),
	responseCode(landfall.CodeProcessUnknown, "The account has not been staged.", 400),
	responseCode(landfall.CodeAlreadyImported, "The account has already been imported. The response contains both account numbers and, when staging, the attrs in which the data sent differs.", 400),
	responseCode(landfall.CodeMarkedAsSkipped, "The operator has marked this account as skipped.", 400),
	responseCode(landfall.CodeImportInProgress, "The account is currently being created.", 400),
	responseCode(landfall.CodeTeamUnknown, "The operations team does not exist.", 400),
	responseCode(landfall.CodeDryRunRolledBack, "The dry run succeeded: the account would be imported. Everything was rolled back.", 400),
	responseCode(landfall.CodeConcurrencyLimit, "Too many accounts are being created at the same time. Try again later.", 429),
	responseCode(landfall.CodeEventCursorUnknown, "The cursor points to an event that is not in the log, because the database was restored to an "+
		"earlier state. Start again without a cursor. Repeated events have the same id.", 400),
	responseCode(landfall.CodeEventCursorTooOld, "Events after the cursor have been deleted because their retention period ended. "+
		"Start again without a cursor at the oldest event, and use the account lists to find out what happened in between.", 400),
	responseCode(landfall.CodeRunActive, "The supplier already has an active run; `id` identifies it.", 400),
	responseCode(landfall.CodeRunNotFound, "The run does not exist, or its supplier is not granted to your organisation.", 404),
	responseCode(landfall.CodeRunPurged, "The accounts and failures of the run were removed because their retention period ended. The run and its totals are kept.", 400),
	responseCode(landfall.CodeRunEnded, "The run has already finished or been cancelled.", 400),
	responseCode(landfall.CodeAccountNotFound, "The account does not exist: it was not staged or has not been imported yet.", 400, 404),
	responseCode(landfall.CodeWindowOver, "Operator only: the account was created too long ago to be undone.", 400),
	responseCode(landfall.CodeHasPostings, "Operator only: the account cannot be undone because something was added to it that did not come with its delivery.", 400),
	responseCode(landfall.CodeCustomersTold, "Operator only: the account cannot be undone because an email about it was sent or is being sent.", 400),
	responseCode(landfall.CodeDeliveryRefused, "The target refused the account or something that was added to it. The operator sees its reason.", 200),
	responseCode(landfall.CodeDeliveryNotPending, "The delivery cannot be confirmed or refused because it is not pending.", 400),
	responseCode(landfall.CodeDelivered, "Operator only: the account cannot be undone because it was delivered to its target, or a delivery is under way.", 400),
	responseCode(landfall.CodeErased, "Operator only: the account's personal data was erased, so it cannot be undone or staged again. "+
		"The code also replaces a failure that was erased.", 400),
	responseCode(landfall.CodeRecordDamaged, "Operator only: the account cannot be undone because the stored document that it would be created from again is damaged or missing.", 400),
	responseCode(landfall.CodeOutsideOpenPeriod, "The transaction date is outside the open statement period, and the request does not allow it to be moved.", 400),
	responseCode(landfall.CodeNoteExists, "Reported by landfall import: the account already has a note with this body but different documents or pin settings. The existing note was not changed.", 201),
	responseCode(landfall.CodeTransactionExists, "Reported by landfall import: the account already has a transaction with this identifier but different content. The existing transaction was not changed.", 201),
	responseCode(landfall.CodeStatementExists, "A statement with this identifier but different content already exists.", 400),
	responseCode(landfall.CodeFileMissing, "The document does not exist in the file store.", 400),
	responseCode(landfall.CodeFileStoreUnavailable, "The file store is unavailable. Send the same request again later.", 503),
	responseCode(landfall.CodeInstructionNotFound, "The payment vendor does not have this payment instruction.", 400),
	responseCode(landfall.CodeInstructionTypeMismatch, "The payment vendor has this payment instruction with a different type.", 400),
	responseCode(landfall.CodeInstructionInactive, "The payment instruction is cancelled or unusable at the payment vendor.", 400),
	responseCode(landfall.CodeInstructionExists, "The account already has this payment instruction with different content. `differences` lists the fields.", 400),
	responseCode(landfall.CodeVendorUnknown, "The payment vendor is not configured.", 400),
	responseCode(landfall.CodeVendorRejected, "The payment vendor rejects our credentials, or our configuration is wrong. Retrying does not help.", 400),
	responseCode(landfall.CodeVendorUnavailable, "The payment vendor is temporarily unavailable. Send the same request again.", 500),
	responseCode(landfall.CodeVendorOutOfService, "The payment vendor has been unreachable for a while. Do not retry the request as it is.", 400),
}

// violationCodes are the codes that refer to one value. They are always errors.
var violationCodes = []CodeEntry{
	violationCode(rules.CodeTooManyErrors, "last entry of errors or warnings", "There are more problems than the 100 listed."),
	violationCode(rules.CodeRequired, anyValue, "A required field is missing or null, or transactions of this type need it."),
	violationCode(rules.CodeBlank, anyText, "The string or list must not be empty."),
	violationCode(rules.CodeInvalidType, anyValue, "The value has the wrong JSON type."),
	violationCode(rules.CodeMaxLength, anyText, "The string is too long."),
	violationCode(rules.CodeInvalidChoice, anyText, "The value is not one of the allowed values, or a query parameter is given twice."),
	violationCode(rules.CodeInvalidDate, "any date", "Not a valid date in the format YYYY-MM-DD."),
	violationCode(rules.CodeInvalidDatetime, "any datetime", "Not an RFC 3339 datetime with a time zone."),
	violationCode(rules.CodeInvalidDecimal, "any amount or decimal", "Not a decimal number. In a string, exponents are not allowed."),
	violationCode(rules.CodeMaxDecimalPlaces, "any amount or decimal", "Too many decimal places. Values are never rounded silently."),
	violationCode(rules.CodeOutOfRange, "any number, date or datetime", "The number is too small or too large, or the date is before 1800-01-01."),
	violationCode(rules.CodeInvalidCharacters, anyText, "The string contains a character that is not allowed, such as a control character. External account numbers also must not contain invisible characters or leading or trailing white space."),
	violationCode(rules.CodeMaxItems, "any list", "The list has too many items, or the document has too many values for its size."),
	violationCode(rules.CodeUnknownField, anyValue, "The field is unknown. Use metadata for additional data."),
	violationCode(CodeInvalidEmail, "any email address", "Not a single email address without a display name."),
	violationCode(CodeInvalidPhoneNumber, "any phone number", "Not a possible phone number in the supplier's region or, with a leading +, in any country. Letters and tel: URIs are not allowed; extensions such as ext. 12 are."),
	violationCode(CodeInvalidPath, "any document path", "Not a valid path relative to the document root."),
	violationCode(CodeUnknownParameter, "any query parameter", "The query parameter is unknown."),
	violationCode("invalid_setting", "payment vendor settings", "Operator only: a setting is missing, unknown or invalid."),
	violationCode(CodeInvalidCursor, "after", "The cursor is invalid, or it was given for another filter. Use the value from a Link header or from `next` unchanged, with the filter of the request that returned it."),
}
