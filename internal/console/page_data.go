package console

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"landfall"
)

// pageData is what every view is filled in with: the page's own under Page, and
// what all pages have.
type pageData struct {
	pageHead
	Page        any
	Me          landfall.Operator
	Session     landfall.Session
	CurrentPath string // the path of the page
	Theme       string
	Zone        string
	Flash       string
	Error       *landfall.Error
	Content     template.HTML
	Insecure    bool
	SearchQuery string // what was searched for
	request     *pageRequest
}

func (r *pageRequest) data(found any) *pageData {
	s := &pageData{
		Page: found, Me: r.me, Session: r.session, CurrentPath: r.URL.Path, Theme: r.theme(), Zone: r.zone(),
		Error: r.formError, SearchQuery: r.queryParam("q"), Insecure: !r.console.encrypted(r.Request), request: r,
	}
	if titled, is := found.(interface{ head() pageHead }); is {
		s.pageHead = titled.head()
	}
	// A part of a page must not use up the sentence that the whole page is to show.
	if !r.route.partial {
		s.Flash = r.takeFlash()
	}
	return s
}

// CanAct says whether the reader sees the buttons.
func (s *pageData) CanAct() bool { return allows(s.Me.Role, landfall.ConsoleOperator) }

// FormValue gives what was typed into a field before it was refused, or else what
// the field begins with.
func (s *pageData) FormValue(name string, begin any) string {
	// Both are needed: a form that went through is shown as it is kept, not as it was typed.
	if s.request.form != nil && s.request.formError != nil {
		return s.request.form.Get(name)
	}
	switch begin := begin.(type) {
	case string:
		return begin
	case int:
		return strconv.Itoa(begin)
	case int64:
		return strconv.FormatInt(begin, 10)
	case nil:
		return ""
	}
	return ""
}

// Selected says whether a choice is the one that was made.
func (s *pageData) Selected(name, choice string, begin any) bool {
	return s.FormValue(name, begin) == choice
}

// Checked says whether a box is ticked.
func (s *pageData) Checked(name string, begin bool) bool {
	if s.request.form != nil && s.request.formError != nil {
		return s.request.form.Get(name) != ""
	}
	return begin
}

// QueryParam gives a parameter of the address, for filters that keep their values.
func (s *pageData) QueryParam(name string) string { return s.request.queryParam(name) }

// httpStatuses is what each kind of refusal is in HTTP.
var httpStatuses = map[landfall.Kind]int{
	landfall.Invalid: http.StatusBadRequest, landfall.Unauthenticated: http.StatusUnauthorized, landfall.Forbidden: http.StatusForbidden,
	landfall.NotFound: http.StatusNotFound, landfall.TooMany: http.StatusTooManyRequests, landfall.Unavailable: http.StatusServiceUnavailable,
	landfall.TooLarge: http.StatusRequestEntityTooLarge, landfall.MethodNotAllowed: http.StatusMethodNotAllowed,
	landfall.UpstreamUnavailable: http.StatusServiceUnavailable,
}

func httpStatus(refusal *landfall.Error) int {
	if status, known := httpStatuses[refusal.Kind]; known {
		return status
	}
	// Internal errors are not in the table on purpose, and a kind that was forgotten there is our
	// fault as well.
	return http.StatusInternalServerError
}

// IsAction says whether the last part of the address is an act, the one that was
// just refused.
func (s *pageData) IsAction(act string) bool { return strings.HasSuffix(s.CurrentPath, "/"+act+"/") }
