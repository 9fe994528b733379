package rules

// Violation is one thing wrong with a request. It never carries the offending
// value, which may be personal data.
type Violation struct {
	Code   string // stable, for machines
	Attr   string // dotted path of the input, e.g. customers.0.landline
	Detail string // a sentence for people; its wording may change
}

// The codes of the rules that need nothing but the table.
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
