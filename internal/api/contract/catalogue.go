package contract

import (
	"net/http"
	"slices"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
)

// CodeEntry explains one code a caller can meet.
type CodeEntry struct {
	Code     string
	Status   []int             // of the answers it comes with
	Where    string            // the whole answer, or the attr it points at
	Severity landfall.Severity // of a cross-field rule by default; error for all others
	Meaning  string
}

const (
	wholeResponse = "answer"
	anyValue      = "any value"
	anyText       = "any text"
)

// Codes gives every code that any part of the program can answer with, by
// name. A test keeps it in step with the code constants of the whole tree.
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

// responseCode is a code of a whole answer, points one of a value in it.
func responseCode(code, meaning string, status ...int) CodeEntry {
	return CodeEntry{Code: code, Status: status, Where: wholeResponse, Severity: asError, Meaning: meaning}
}

// violationCode declares a code that stands in a violation.
func violationCode(code, where, meaning string) CodeEntry {
	return CodeEntry{Code: code, Status: []int{http.StatusBadRequest}, Where: where, Severity: asError, Meaning: meaning}
}

// responseCodes are the codes of whole answers.
var responseCodes = []CodeEntry{
	responseCode(landfall.CodeInternalError, "A fault of ours. Send the same request again; quote the X-Request-ID if it stays.", 500),
	responseCode(landfall.CodeServiceUnavailable, "The database is away or the service is shutting down. Send the same request again later.", 503),
	responseCode(landfall.CodeNotAuthenticated, "The request carries no token.", 401),
	responseCode(landfall.CodeAuthenticationFailed, "The token is not known, has expired or was revoked.", 401),
	responseCode(landfall.CodePermissionDenied, "The API key may read but not write.", 403),
	responseCode(landfall.CodeNotFound, "There is nothing at this path.", 404),
	responseCode(landfall.CodeMethodNotAllowed, "The path does not answer to this method; see the Allow header.", 405),
	responseCode(landfall.CodePayloadTooLarge, "The body is larger than the service reads.", 413),
	responseCode(landfall.CodeUnsupportedMedia, "The body is not announced as application/json in UTF-8.", 415),
	responseCode(landfall.CodeTooManyRequests, "Too many attempts. Wait as long as the Retry-After header says.", 429),
	responseCode(landfall.CodeHeaderTooLarge, "The request has more header fields than the service reads.", 431),
	responseCode(landfall.CodeQuotaExceeded, "Your organisation has had its share of what `quota` in the answer names. Wait as long as the Retry-After header says; without one, waiting does not help.", 400, 429),
	responseCode(rules.CodeMalformedJSON, "The body is not one strict JSON object: broken, followed by something, with a field given twice, nested too deeply or not in UTF-8.", 400),
	responseCode(landfall.CodeValidationFailed, "The request breaks a rule; errors says which and where.", 400),
	responseCode(landfall.CodeAccountFailedValidation, "The account object breaks a rule; errors says which and where.", 400),
	responseCode(landfall.CodeSupplierUnknown, "There is no such import supplier, or it was not granted to the caller. In an account object it points at import_supplier.", 400, 404),
	responseCode(landfall.CodeNoControlTotals, "Nobody has set control totals of this import supplier.", 404),
	responseCode(landfall.CodeSupplierNotOngoing, "The operator has paused this supplier's migration, and nothing is written; or completed it, and no account is staged or created.", 400),
	responseCode(landfall.CodeProcessUnknown, "Nothing was staged for this account.", 400),
	responseCode(landfall.CodeAlreadyImported, "An account exists already; both numbers are in the answer.", 400),
	responseCode(landfall.CodeMarkedAsSkipped, "The operator has marked this account to be skipped.", 400),
	responseCode(landfall.CodeImportInProgress, "The account is being created right now.", 400),
	responseCode(landfall.CodeTeamUnknown, "There is no such operations team.", 400),
	responseCode(landfall.CodeDryRunRolledBack, "The account would successfully import; everything was rolled back because this was a dry run.", 400),
	responseCode(landfall.CodeConcurrencyLimit, "Too many accounts are being created at once. Try again when others have finished.", 429),
	responseCode(landfall.CodeEventCursorUnknown, "The event behind which the cursor stands is not in the log: the database was put back to an "+
		"earlier state. Begin again without a cursor; events that come again have the same ids.", 400),
	responseCode(landfall.CodeEventCursorTooOld, "Events behind the cursor that were not read yet were removed because they were kept for as long as is set. "+
		"Begin again without a cursor, at the oldest event that is kept, and read from the lists of accounts what happened in between.", 400),
	responseCode(landfall.CodeRunActive, "This supplier has a run that has not ended; `id` names it.", 400),
	responseCode(landfall.CodeRunNotFound, "There is no such run, or its supplier was not granted to the caller.", 404),
	responseCode(landfall.CodeRunEnded, "The run is finished or cancelled; nothing can become of it any more.", 400),
	responseCode(landfall.CodeAccountNotFound, "There is no such account: nothing was staged, or it was not imported yet.", 400, 404),
	responseCode(landfall.CodeWindowOver, "Told to the operator only: the account was created too long ago to be taken back.", 400),
	responseCode(landfall.CodeHasPostings, "Told to the operator only: something was added to the account, so it is not taken back.", 400),
	responseCode(landfall.CodeCustomersTold, "Told to the operator only: a mail about the account was sent or is being sent, so it is not taken back.", 400),
	responseCode(landfall.CodeErased, "Told to the operator only: what is personal of the account was erased, so it is neither taken back nor staged again. "+
		"It also stands in place of a failure that was erased.", 400),
	responseCode(landfall.CodeOutsideOpenPeriod, "The transaction's date is outside the open statement period and may not be moved.", 400),
	responseCode(landfall.CodeNoteExists, "Said by landfall import: the account has a note with this body and other documents or another pin; it was left as it is.", 201),
	responseCode(landfall.CodeTransactionExists, "Said by landfall import: the account has a transaction with this identifier and other content; it was left as it is.", 201),
	responseCode(landfall.CodeStatementExists, "A statement with this identifier and other content exists.", 400),
	responseCode(landfall.CodeFileMissing, "The document is not in the file store.", 400),
	responseCode(landfall.CodeFileStoreUnavailable, "The file store could not be asked. Send the same request again later.", 503),
	responseCode(landfall.CodeInstructionNotFound, "The vendor knows no such payment instruction.", 400),
	responseCode(landfall.CodeInstructionTypeMismatch, "The vendor has the payment instruction under another type.", 400),
	responseCode(landfall.CodeInstructionInactive, "The payment instruction is cancelled or not usable at the vendor.", 400),
	responseCode(landfall.CodeInstructionExists, "The account has this payment instruction in other words; differences names the fields.", 400),
	responseCode(landfall.CodeVendorUnknown, "This payment vendor is not configured here.", 400),
	responseCode(landfall.CodeVendorRejected, "The vendor refuses our credentials or our configuration is wrong. Repeating the request does not help.", 400),
	responseCode(landfall.CodeVendorUnavailable, "The vendor could not be asked just now. Send the same request again.", 500),
	responseCode(landfall.CodeVendorOutOfService, "The vendor has been out of reach for a while. Do not repeat the request in the same form.", 400),
}

// violationCodes are the codes that point at one value, always errors.
var violationCodes = []CodeEntry{
	violationCode(rules.CodeTooManyErrors, "the last of errors or warnings", "There are more problems than the hundred listed."),
	violationCode(rules.CodeRequired, anyValue, "A required field is missing or null, or a transaction of this type needs it."),
	violationCode(rules.CodeBlank, anyText, "A text or list that may not be empty is."),
	violationCode(rules.CodeInvalidType, anyValue, "The value is of another JSON type than the field."),
	violationCode(rules.CodeMaxLength, anyText, "The text has more characters than the field takes."),
	violationCode(rules.CodeInvalidChoice, anyText, "The value is not one of the allowed ones, or a query parameter is given twice."),
	violationCode(rules.CodeInvalidDate, "any date", "Not a real calendar day written YYYY-MM-DD."),
	violationCode(rules.CodeInvalidDatetime, "any datetime", "Not an RFC 3339 datetime with a zone."),
	violationCode(rules.CodeInvalidDecimal, "any amount or decimal", "Not a plain decimal number; one in a string may have no exponent."),
	violationCode(rules.CodeMaxDecimalPlaces, "any amount or decimal", "More decimal places than the field keeps; nothing is rounded in silence."),
	violationCode(rules.CodeOutOfRange, "any number, date or datetime", "The number is too small or too large, or the day is before 1800-01-01."),
	violationCode(rules.CodeInvalidCharacters, anyText, "A character the text may not have, such as a control character; in an external account number also an invisible one, or white space at an end."),
	violationCode(rules.CodeMaxItems, "any list", "The list has more items than the field takes, or the document more values than can be read for its size."),
	violationCode(rules.CodeUnknownField, anyValue, "The field is not in the documented set. Use metadata for anything else worth keeping."),
	violationCode(CodeInvalidEmail, "every e-mail address", "Not one bare e-mail address."),
	violationCode(CodeInvalidPhoneNumber, "every phone number", "Not a possible phone number in the supplier's region or, with +, anywhere; letters and tel: forms are refused, extensions such as ext. 12 are not."),
	violationCode(CodeInvalidPath, "every document path", "Not a path below the document root."),
	violationCode(CodeUnknownParameter, "any query parameter", "The query parameter is not known at this path."),
	violationCode("invalid_setting", "the settings of a payment vendor", "Told to the operator only: a setting is missing, unknown or not what it should be."),
	violationCode(CodeInvalidCursor, "after", "The cursor was not taken from a Link header or from `next`, or was cut."),
}
