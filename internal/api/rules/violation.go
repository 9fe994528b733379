package rules

// Violation is one problem of a request. It never contains the offending value,
// which may be personal data.
type Violation struct {
	Code   string // stable, for programs
	Attr   string // dotted path of the field, such as customers.0.landline
	Detail string // message for people; its wording may change
}

// Codes of the checks that only need the table.
const (
	CodeMalformedJSON     = "malformed_json"
	CodeTooManyErrors     = "too_many_errors"
	CodeRequired          = "required"
	CodeBlank             = "blank"
	CodeInvalidType       = "invalid_type"
	CodeMaxLength         = "max_length"
	CodeInvalidChoice     = "invalid_choice"
	CodeInvalidDate       = "invalid_date"
	CodeInvalidDatetime   = "invalid_datetime"
	CodeInvalidDecimal    = "invalid_decimal"
	CodeMaxDecimalPlaces  = "max_decimal_places"
	CodeOutOfRange        = "out_of_range"
	CodeInvalidCharacters = "invalid_characters"
	CodeMaxItems          = "max_items"
	CodeUnknownField      = "unknown_field"
)
