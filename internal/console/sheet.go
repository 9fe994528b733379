package console

import (
	"html/template"
	"net/http"
	"strconv"
	"strings"

	"landfall"
)

// sheet is what every view is filled in with: the page's own under Page, and
// what all pages have.
type sheet struct {
	head
	Page     any
	Me       landfall.Operator
	Session  landfall.Session
	Here     string // the path of the page
	Theme    string
	Zone     string
	Flash    string
	Refusal  *landfall.Error
	Main     template.HTML
	Insecure bool
	Query    string // what was searched for
	visit    *visit
}

func (v *visit) sheet(found any) *sheet {
	s := &sheet{
		Page: found, Me: v.me, Session: v.session, Here: v.URL.Path, Theme: v.theme(), Zone: v.zone(),
		Refusal: v.refusal, Query: v.query("q"), Insecure: !v.console.encrypted(v.Request), visit: v,
	}
	if titled, is := found.(interface{ heading() head }); is {
		s.head = titled.heading()
	}
	// A part of a page must not use up the sentence that the whole page is to show.
	if !v.page.bare {
		s.Flash = v.flashed()
	}
	return s
}

// MayAct says whether the reader sees the buttons.
func (s *sheet) MayAct() bool { return may(s.Me.Role, landfall.ConsoleOperator) }

// Typed gives what was typed into a field before it was refused, or else what
// the field begins with.
func (s *sheet) Typed(name string, begin any) string {
	// Both are needed: a form that went through is shown as it is kept, not as it was typed.
	if s.visit.form != nil && s.visit.refusal != nil {
		return s.visit.form.Get(name)
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

// Chosen says whether a choice is the one that was made.
func (s *sheet) Chosen(name, choice string, begin any) bool { return s.Typed(name, begin) == choice }

// Ticked says whether a box is ticked.
func (s *sheet) Ticked(name string, begin bool) bool {
	if s.visit.form != nil && s.visit.refusal != nil {
		return s.visit.form.Get(name) != ""
	}
	return begin
}

// Param gives a parameter of the address, for filters that keep their values.
func (s *sheet) Param(name string) string { return s.visit.query(name) }

// statuses is what each kind of refusal is in HTTP.
var statuses = map[landfall.Kind]int{
	landfall.Invalid: http.StatusBadRequest, landfall.Unauthenticated: http.StatusUnauthorized, landfall.Forbidden: http.StatusForbidden,
	landfall.NotFound: http.StatusNotFound, landfall.TooMany: http.StatusTooManyRequests, landfall.Unavailable: http.StatusServiceUnavailable,
	landfall.TooLarge: http.StatusRequestEntityTooLarge, landfall.MethodNotAllowed: http.StatusMethodNotAllowed,
	landfall.UpstreamUnavailable: http.StatusServiceUnavailable,
}

func status(refusal *landfall.Error) int {
	if status, known := statuses[refusal.Kind]; known {
		return status
	}
	// Internal errors are not in the table on purpose, and a kind that was forgotten there is our
	// fault as well.
	return http.StatusInternalServerError
}

// Doing says whether the last part of the address is an act, the one that was
// just refused.
func (s *sheet) Doing(act string) bool { return strings.HasSuffix(s.Here, "/"+act+"/") }
