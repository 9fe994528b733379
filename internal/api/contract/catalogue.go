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
	wholeAnswer = "answer"
	anyValue    = "any value"
	anyText     = "any text"
)

// Codes gives every code that any part of the program can answer with, by
// name. A test keeps it in step with the code constants of the whole tree.
func Codes() []CodeEntry {
	codes := slices.Clone(answerCodes)
	codes = append(codes, shapeCodes...)
	for _, rule := range ruleBook {
		codes = append(codes, CodeEntry{
			Code: rule.Code, Status: []int{http.StatusBadRequest},
			Where: rule.Where, Severity: rule.Severity, Meaning: rule.Meaning,
		})
	}
	slices.SortFunc(codes, func(a, b CodeEntry) int { return strings.Compare(a.Code, b.Code) })
	return codes
}

// answers is a code of a whole answer, points one of a value in it.
func answers(code, meaning string, status ...int) CodeEntry {
	return CodeEntry{Code: code, Status: status, Where: wholeAnswer, Severity: refuses, Meaning: meaning}
}

// points declares a code that stands in a violation.
func points(code, where, meaning string) CodeEntry {
	return CodeEntry{Code: code, Status: []int{http.StatusBadRequest}, Where: where, Severity: refuses, Meaning: meaning}
}

// answerCodes are the codes of whole answers.
var answerCodes = []CodeEntry{
	answers(landfall.CodeInternalError, "A fault of ours. Send the same request again; quote the X-Request-ID if it stays.", 500),
	answers(landfall.CodeServiceUnavailable, "The database is away or the service is shutting down. Send the same request again later.", 503),
	answers(landfall.CodeNotAuthenticated, "The request carries no token.", 401),
	answers(landfall.CodeAuthenticationFailed, "The token is not known, has expired or was revoked.", 401),
	answers(landfall.CodePermissionDenied, "The API key may read but not write.", 403),
	answers(landfall.CodeNotFound, "There is nothing at this path.", 404),
	answers(landfall.CodeMethodNotAllowed, "The path does not answer to this method; see the Allow header.", 405),
	answers(landfall.CodePayloadTooLarge, "The body is larger than the service reads.", 413),
	answers(landfall.CodeUnsupportedMedia, "The body is not announced as application/json in UTF-8.", 415),
	answers(landfall.CodeTooManyRequests, "Too many attempts. Wait as long as the Retry-After header says.", 429),
	answers(landfall.CodeHeaderTooLarge, "The request has more header fields than the service reads.", 431),
	answers(landfall.CodeQuotaExceeded, "Your organisation has had its share of what `quota` in the answer names. Wait as long as the Retry-After header says; without one, waiting does not help.", 400, 429),
	answers(rules.CodeMalformedJSON, "The body is not one strict JSON object: broken, followed by something, with a field given twice, nested too deeply or not in UTF-8.", 400),
	answers(landfall.CodeValidationFailed, "The request breaks a rule; errors says which and where.", 400),
	answers(landfall.CodeAccountFailedValidation, "The account object breaks a rule; errors says which and where.", 400),
	answers(landfall.CodeSupplierUnknown, "There is no such import supplier, or it was not granted to the caller. In an account object it points at import_supplier.", 400, 404),
	answers(landfall.CodeNoControlTotals, "Nobody has set control totals of this import supplier.", 404),
	answers(landfall.CodeSupplierNotOngoing, "The operator has paused this supplier's migration, and nothing is written; or completed it, and no account is staged or created.", 400),
	answers(landfall.CodeProcessUnknown, "Nothing was staged for this account.", 400),
	answers(landfall.CodeAlreadyImported, "An account exists already; both numbers are in the answer.", 400),
	answers(landfall.CodeMarkedAsSkipped, "The operator has marked this account to be skipped.", 400),
	answers(landfall.CodeImportInProgress, "The account is being created right now.", 400),
	answers(landfall.CodeTeamUnknown, "There is no such operations team.", 400),
	answers(landfall.CodeDryRunRolledBack, "The account would successfully import; everything was rolled back because this was a dry run.", 400),
	answers(landfall.CodeConcurrencyLimit, "Too many accounts are being created at once. Try again when others have finished.", 429),
	answers(landfall.CodeEventCursorUnknown, "The event behind which the cursor stands is not in the log: the database was put back to an "+
		"earlier state. Begin again without a cursor; events that come again have the same ids.", 400),
	answers(landfall.CodeEventCursorTooOld, "Events behind the cursor that were not read yet were removed because they were kept for as long as is set. "+
		"Begin again without a cursor, at the oldest event that is kept, and read from the lists of accounts what happened in between.", 400),
	answers(landfall.CodeRunActive, "This supplier has a run that has not ended; `id` names it.", 400),
	answers(landfall.CodeRunNotFound, "There is no such run, or its supplier was not granted to the caller.", 404),
	answers(landfall.CodeRunEnded, "The run is finished or cancelled; nothing can become of it any more.", 400),
	answers(landfall.CodeAccountNotFound, "There is no such account: nothing was staged, or it was not imported yet.", 400, 404),
	answers(landfall.CodeWindowOver, "Told to the operator only: the account was created too long ago to be taken back.", 400),
	answers(landfall.CodeHasPostings, "Told to the operator only: something was added to the account, so it is not taken back.", 400),
	answers(landfall.CodeCustomersTold, "Told to the operator only: a mail about the account was sent or is being sent, so it is not taken back.", 400),
	answers(landfall.CodeErased, "Told to the operator only: what is personal of the account was erased, so it is neither taken back nor staged again. "+
		"It also stands in place of a failure that was erased.", 400),
	answers(landfall.CodeOutsideOpenPeriod, "The transaction's date is outside the open statement period and may not be moved.", 400),
	answers(landfall.CodeNoteExists, "Said by landfall import: the account has a note with this body and other documents or another pin; it was left as it is.", 201),
	answers(landfall.CodeTransactionExists, "Said by landfall import: the account has a transaction with this identifier and other content; it was left as it is.", 201),
	answers(landfall.CodeStatementExists, "A statement with this identifier and other content exists.", 400),
	answers(landfall.CodeFileMissing, "The document is not in the file store.", 400),
	answers(landfall.CodeFileStoreUnavailable, "The file store could not be asked. Send the same request again later.", 503),
	answers(landfall.CodeInstructionNotFound, "The vendor knows no such payment instruction.", 400),
	answers(landfall.CodeInstructionTypeMismatch, "The vendor has the payment instruction under another type.", 400),
	answers(landfall.CodeInstructionInactive, "The payment instruction is cancelled or not usable at the vendor.", 400),
	answers(landfall.CodeInstructionExists, "The account has this payment instruction in other words; differences names the fields.", 400),
	answers(landfall.CodeVendorUnknown, "This payment vendor is not configured here.", 400),
	answers(landfall.CodeVendorRejected, "The vendor refuses our credentials or our configuration is wrong. Repeating the request does not help.", 400),
	answers(landfall.CodeVendorUnavailable, "The vendor could not be asked just now. Send the same request again.", 500),
	answers(landfall.CodeVendorOutOfService, "The vendor has been out of reach for a while. Do not repeat the request in the same form.", 400),
}

// shapeCodes are the codes that point at one value, always errors.
var shapeCodes = []CodeEntry{
	points(rules.CodeTooManyErrors, "the last of errors or warnings", "There are more problems than the hundred listed."),
	points(rules.CodeRequired, anyValue, "A required field is missing or null, or a transaction of this type needs it."),
	points(rules.CodeBlank, anyText, "A text or list that may not be empty is."),
	points(rules.CodeInvalidType, anyValue, "The value is of another JSON type than the field."),
	points(rules.CodeMaxLength, anyText, "The text has more characters than the field takes."),
	points(rules.CodeInvalidChoice, anyText, "The value is not one of the allowed ones, or a query parameter is given twice."),
	points(rules.CodeInvalidDate, "any date", "Not a real calendar day written YYYY-MM-DD."),
	points(rules.CodeInvalidDatetime, "any datetime", "Not an RFC 3339 datetime with a zone."),
	points(rules.CodeInvalidDecimal, "any amount or decimal", "Not a plain decimal number; one in a string may have no exponent."),
	points(rules.CodeMaxDecimalPlaces, "any amount or decimal", "More decimal places than the field keeps; nothing is rounded in silence."),
	points(rules.CodeOutOfRange, "any number, date or datetime", "The number is too small or too large, or the day is before 1800-01-01."),
	points(rules.CodeInvalidCharacters, anyText, "A character the text may not have, such as a control character; in an external account number also an invisible one, or white space at an end."),
	points(rules.CodeMaxItems, "any list", "The list has more items than the field takes, or the document more values than can be read for its size."),
	points(rules.CodeUnknownField, anyValue, "The field is not in the documented set. Use metadata for anything else worth keeping."),
	points(CodeInvalidEmail, "every e-mail address", "Not one bare e-mail address."),
	points(CodeInvalidPhoneNumber, "every phone number", "Not a possible phone number in the supplier's region or, with +, anywhere; letters and tel: forms are refused, extensions such as ext. 12 are not."),
	points(CodeInvalidPath, "every document path", "Not a path below the document root."),
	points(CodeUnknownParameter, "any query parameter", "The query parameter is not known at this path."),
	points("invalid_setting", "the settings of a payment vendor", "Told to the operator only: a setting is missing, unknown or not what it should be."),
	points(CodeInvalidCursor, "after", "The cursor was not taken from a Link header or from `next`, or was cut."),
}
