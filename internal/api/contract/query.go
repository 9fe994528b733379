package contract

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/spelling"
)

// The codes of query parameters.
const (
	CodeUnknownParameter = "unknown_parameter"
	CodeInvalidCursor    = "invalid_cursor"
)

// maxPage is the maximum number of entries of a page.
const maxPage = 10_000

// Query reads the parameters of a request one by one and collects violations.
// Unknown parameters are refused: silently ignoring a misspelled flag could do
// the opposite of what was intended.
type Query struct {
	values     url.Values
	known      []string // the parameters that exist
	members    []string // of the body, which callers look for in the query
	violations []landfall.Violation
}

// ReadQuery parses the query of a URL.
func ReadQuery(raw string) *Query {
	values, err := url.ParseQuery(raw)
	query := &Query{values: values}
	if err != nil {
		query.refuse("", rules.CodeInvalidCharacters, "The query string is malformed.")
	}
	return query
}

// InBody says which members of the body are no parameters.
func (q *Query) InBody(names ...string) *Query {
	q.members = names
	return q
}

// Bool reads a flag: true, false, 1 or 0, in any case.
func (q *Query) Bool(name string, fallback bool) bool {
	text, given := q.take(name)
	switch {
	case !given:
		return fallback
	case strings.EqualFold(text, "true"), text == "1":
		return true
	case strings.EqualFold(text, "false"), text == "0":
		return false
	}
	q.refuse(name, rules.CodeInvalidChoice, "Must be one of: true, false, 1, 0.")
	return fallback
}

// Int reads an integer from low to high; 0 if it is not given.
func (q *Query) Int(name string, low, high int) int {
	text, given := q.take(name)
	if !given {
		return 0
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < low || number > high || strconv.Itoa(number) != text {
		q.refuse(name, rules.CodeOutOfRange, "Must be a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high)+".")
		return 0
	}
	return number
}

// Cursor reads a list position; nil if it is not given.
func (q *Query) Cursor(name string) *landfall.ProcessCursor {
	text, given := q.take(name)
	if !given {
		return nil
	}
	cursor, sound := DecodeCursor(text)
	if !sound {
		q.refuse(name, CodeInvalidCursor, "Use the cursor from the Link header of an earlier response.")
		return nil
	}
	return &cursor
}

// Line reads one line of text; "" if it is not given.
func (q *Query) Line(name string, most int) string {
	text, _ := q.take(name)
	if !utf8.ValidString(text) || utf8.RuneCountInString(text) > most || strings.ContainsFunc(text, unicode.IsControl) {
		q.refuse(name, rules.CodeInvalidCharacters, "Must be one line of at most "+strconv.Itoa(most)+" characters.")
		return ""
	}
	return text
}

// Measure reads the name of a measure.
func (q *Query) Measure(name string) (measure landfall.Measure, given bool) {
	text, given := q.take(name)
	if given {
		var known bool
		if measure, known = landfall.ParseMeasure(text); !known {
			q.refuse(name, rules.CodeInvalidChoice, "Must be the name of a measure from the reconciliation, such as accounts or balances.GBP.")
		}
	}
	return measure, given
}

// Reason reads the reason of a difference.
func (q *Query) Reason(name string) (reason landfall.Reason, given bool) {
	text, given := q.take(name)
	if reason = landfall.Reason(text); given && !slices.Contains(landfall.Reasons, reason) {
		q.refuse(name, rules.CodeInvalidChoice, "Must be one of: pending, failed, skipped, moved_dates, other_figures.")
	}
	return reason, given
}

// Err returns an error with all violations, including unknown parameters, or
// nil.
func (q *Query) Err() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		hint := suggestion(name, q.known)
		if slices.Contains(q.members, name) {
			hint = " Did you mean " + name + " in the body?"
		}
		q.refuse(truncateName(name), CodeUnknownParameter, "Unknown parameter."+hint)
	}
	if len(q.violations) == 0 {
		return nil
	}
	return &landfall.Error{
		Kind: landfall.Invalid, Code: landfall.CodeValidationFailed,
		Detail: "The query parameters are not valid.", Violations: q.violations,
	}
}

// take returns the value of a parameter and removes it. A duplicate parameter
// has no value.
func (q *Query) take(name string) (text string, given bool) {
	q.known = append(q.known, name)
	values, given := q.values[name]
	delete(q.values, name)
	if len(values) > 1 {
		q.refuse(name, rules.CodeInvalidChoice, "This parameter is given twice.")
		return "", false
	}
	if given {
		text = values[0]
	}
	return text, given
}

// refuse adds a violation, up to a limit: a query may have thousands.
func (q *Query) refuse(name, code, detail string) {
	switch {
	case len(q.violations) < maxViolations:
		q.violations = append(q.violations, landfall.Violation{Code: code, Attr: name, Detail: detail})
	case len(q.violations) == maxViolations:
		q.violations = append(q.violations, tooManyErrors)
	}
}

// QueryBool reads the query of a call that has a single flag. The members are those of
// its body that callers may look for here.
func QueryBool(raw, name string, fallback bool, members ...string) (bool, error) {
	if raw == "" {
		return fallback, nil
	}
	query := ReadQuery(raw).InBody(members...)
	flag := query.Bool(name, fallback)
	return flag, query.Err()
}

// ListPage selects part of a list.
type ListPage struct {
	Limit int                     // 0: all
	After *landfall.ProcessCursor // nil: from the beginning
}

// ReadPage reads the query of a list.
func ReadPage(raw string) (ListPage, error) {
	if raw == "" {
		return ListPage{}, nil
	}
	query := ReadQuery(raw)
	page := ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	return page, query.Err()
}

// ReadDetailedPage reads the query of the list of imported accounts, which has a
// detail flag.
func ReadDetailedPage(raw string) (page ListPage, figures bool, err error) {
	if raw == "" {
		return ListPage{}, false, nil
	}
	query := ReadQuery(raw)
	page = ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	figures = query.Bool("detail", false)
	return page, figures, query.Err()
}

// suggestion returns a sentence with a similar known name, or "".
func suggestion(name string, known []string) string {
	if near := spelling.Near(name, known); len(near) > 0 {
		return " Did you mean " + near[0] + "?"
	}
	return ""
}

// truncateName truncates a sender's own name before it is repeated.
func truncateName(name string) string {
	if len(name) > 200 {
		return name[:200]
	}
	return name
}
