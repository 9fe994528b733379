package contract

import (
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"landfall"
	"landfall/internal/api/rules"
	"landfall/internal/lib/spelling"
)

// The codes of query parameters.
const (
	CodeUnknownParameter = "unknown_parameter"
	CodeInvalidCursor    = "invalid_cursor"
)

// maxPage is the most entries one page of a list may have.
const maxPage = 10_000

// Query reads the parameters of a request one by one and remembers what is
// wrong with them. A parameter nobody asked for is refused: a misspelled flag
// that was ignored in silence would do the opposite of what was meant.
type Query struct {
	values     url.Values
	known      []string // the parameters there are
	violations []landfall.Violation
}

// ReadQuery takes the raw query of a URL apart.
func ReadQuery(raw string) *Query {
	values, err := url.ParseQuery(raw)
	query := &Query{values: values}
	if err != nil {
		query.refuse("", rules.CodeInvalidCharacters, "The query of the URL is not well-formed.")
	}
	return query
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

// Int reads a whole number from low to high; 0 when it is not given.
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

// Cursor reads a place in a list; nil when it is not given.
func (q *Query) Cursor(name string) *landfall.ProcessCursor {
	text, given := q.take(name)
	if !given {
		return nil
	}
	cursor, sound := DecodeCursor(text)
	if !sound {
		q.refuse(name, CodeInvalidCursor, "Take the cursor from the Link header of an earlier answer.")
		return nil
	}
	return &cursor
}

// Measure reads the name of something a reconciliation compares.
func (q *Query) Measure(name string) (measure landfall.Measure, given bool) {
	text, given := q.take(name)
	if given {
		var known bool
		if measure, known = landfall.ParseMeasure(text); !known {
			q.refuse(name, rules.CodeInvalidChoice, "Must be the name of a measure as the reconciliation gives it, such as accounts or balances.GBP.")
		}
	}
	return measure, given
}

// Reason reads why something has not arrived.
func (q *Query) Reason(name string) (reason landfall.Reason, given bool) {
	text, given := q.take(name)
	if reason = landfall.Reason(text); given && !slices.Contains(landfall.Reasons, reason) {
		q.refuse(name, rules.CodeInvalidChoice, "Must be one of: pending, failed, skipped, other_figures.")
	}
	return reason, given
}

// Err gives the refusal of everything that is wrong, parameters nobody asked
// for included, or nil.
func (q *Query) Err() error {
	for _, name := range slices.Sorted(maps.Keys(q.values)) {
		q.refuse(truncateName(name), CodeUnknownParameter, "This parameter is not known here."+suggestion(name, q.known))
	}
	if len(q.violations) == 0 {
		return nil
	}
	return &landfall.Error{
		Kind: landfall.Invalid, Code: landfall.CodeValidationFailed,
		Detail: "The query parameters are not valid.", Violations: q.violations,
	}
}

// take gives a parameter's value and strikes it off the list. One given twice
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

// refuse keeps a violation, a bounded number of them: the query may have
// thousands.
func (q *Query) refuse(name, code, detail string) {
	switch {
	case len(q.violations) < maxViolations:
		q.violations = append(q.violations, landfall.Violation{Code: code, Attr: name, Detail: detail})
	case len(q.violations) == maxViolations:
		q.violations = append(q.violations, tooManyErrors)
	}
}

// QueryBool reads the raw query of a call that has one flag.
func QueryBool(raw, name string, fallback bool) (bool, error) {
	if raw == "" {
		return fallback, nil
	}
	query := ReadQuery(raw)
	flag := query.Bool(name, fallback)
	return flag, query.Err()
}

// ListPage says which part of a list is wanted.
type ListPage struct {
	Limit int                     // 0: all
	After *landfall.ProcessCursor // nil: from the beginning
}

// ReadPage reads the raw query of a list.
func ReadPage(raw string) (ListPage, error) {
	if raw == "" {
		return ListPage{}, nil
	}
	query := ReadQuery(raw)
	page := ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	return page, query.Err()
}

// ReadDetailedPage reads the raw query of the list of imported accounts, whose
// figures may be asked for.
func ReadDetailedPage(raw string) (page ListPage, figures bool, err error) {
	if raw == "" {
		return ListPage{}, false, nil
	}
	query := ReadQuery(raw)
	page = ListPage{Limit: query.Int("limit", 1, maxPage), After: query.Cursor("after")}
	figures = query.Bool("detail", false)
	return page, figures, query.Err()
}

// suggestion asks whether a parameter was meant that there is.
func suggestion(name string, known []string) string {
	if near := spelling.Near(name, known); len(near) > 0 {
		return " Did you mean " + near[0] + "?"
	}
	return ""
}

// truncateName cuts a sender's own name before it is repeated.
func truncateName(name string) string {
	if len(name) > 200 {
		return name[:200]
	}
	return name
}
