package console

import (
	"html/template"
	"slices"
	"strconv"
	"strings"

	"landfall"
)

// pageData is what every view gets: the page's own data as Page, and what all
// pages have in common.
type pageData struct {
	pageHead
	Page        any
	Me          landfall.Operator
	Session     landfall.Session
	CurrentPath string
	Theme       string
	Zone        string
	Flash       string
	Error       *landfall.Error
	Content     template.HTML
	Insecure    bool
	SearchQuery string
	Supplier    *landfall.Supplier // that the page is about, on pages below it
	request     *pageRequest
}

func (r *pageRequest) data(page any) *pageData {
	data := &pageData{
		Page: page, Me: r.me, Session: r.session, CurrentPath: r.URL.Path, Theme: r.theme(), Zone: r.zone().String(),
		Error: r.formError, SearchQuery: r.queryParam("q"), Insecure: !r.console.encrypted(r.Request), request: r,
	}
	if titled, is := page.(interface{ head() pageHead }); is {
		data.pageHead = titled.head()
	}
	if strings.HasPrefix(r.route.path, "suppliers/{supplier}/") && r.me.Name != "" {
		// An unknown supplier has no header; the page says so.
		if facts, err := r.operator().ShowSupplier(r.Context(), r.PathValue("supplier")); err == nil {
			data.Supplier = &facts.Supplier
		}
	}
	// A partial must not use up the message that the next whole page shows.
	if !r.route.partial {
		data.Flash = r.takeFlash()
	}
	return data
}

// CanAct reports whether the reader may change what the page is about: a supplier, or
// the administration.
func (d *pageData) CanAct() bool {
	if isAdmin(d.request.route.path) {
		return d.May("administer")
	}
	return d.Me.May(landfall.MayAct, d.supplier())
}

// Section is the part of the console that the page belongs to: "suppliers", "admin" or
// neither.
func (d *pageData) Section() string {
	path := d.request.route.path
	switch {
	case isAdmin(path) && !strings.HasPrefix(path, "admin/suppliers/"):
		return "admin"
	case path == "" || strings.HasPrefix(path, "admin/suppliers/") || strings.HasPrefix(path, "suppliers/") || strings.HasPrefix(path, "runs/") || strings.HasPrefix(path, "accounts/"):
		return "suppliers"
	}
	return ""
}

// Trail lists the pages above this one. The tabs of the administration are on each of its
// pages and lead back already.
func (d *pageData) Trail() []breadcrumb {
	if len(d.Tabs) > 0 && d.Supplier == nil {
		return nil
	}
	return d.Breadcrumbs
}

// CanReveal reports whether the reader may see personal data of the page's supplier.
func (d *pageData) CanReveal() bool { return d.Me.May(landfall.MayReveal, d.supplier()) }

// supplier is the supplier that the page is about; "" when it is about none or many.
func (d *pageData) supplier() string {
	if about, is := d.Page.(interface{ aboutSupplier() string }); is {
		return about.aboutSupplier()
	}
	return d.request.PathValue("supplier")
}

// May reports whether the reader may inspect or administer the service, read its audit
// or see its people.
func (d *pageData) May(what string) bool {
	return d.Me.May(map[string]landfall.Permission{
		"inspect": landfall.MayInspect, "administer": landfall.MayAdminister, "audit": landfall.MayAudit, "people": landfall.MaySeePeople,
	}[what], "")
}

// refused reports whether the page shows a form again that was refused. A form
// that was accepted is shown as it was saved, not as it was typed.
func (d *pageData) refused() bool { return d.request.form != nil && d.request.formError != nil }

// FormValue returns what was typed into a field that was refused, or else its
// initial value.
func (d *pageData) FormValue(name string, initial any) string {
	if d.refused() {
		return d.request.form.Get(name)
	}
	switch initial := initial.(type) {
	case string:
		return initial
	case int:
		return strconv.Itoa(initial)
	case int64:
		return strconv.FormatInt(initial, 10)
	}
	return ""
}

// ActionReason returns the reason that was typed into the form of an action.
func (d *pageData) ActionReason(name string) string {
	if !d.IsAction(name) {
		return ""
	}
	return d.FormValue("reason", "")
}

// Selected reports whether an option of a select element is selected.
func (d *pageData) Selected(name, option string, initial any) bool {
	return d.FormValue(name, initial) == option
}

// Checked reports whether a checkbox is checked.
func (d *pageData) Checked(name string, initial bool) bool {
	if d.refused() {
		return d.request.form.Get(name) != ""
	}
	return initial
}

// Chosen reports whether one of several checkboxes with the same name is checked.
func (d *pageData) Chosen(name, value string, initial bool) bool {
	if d.refused() {
		return slices.Contains(d.request.form[name], value)
	}
	return initial
}

// QueryParam returns a query parameter, for filters that keep their values.
func (d *pageData) QueryParam(name string) string { return d.request.queryParam(name) }

// IsAction reports whether the path ends with an action, which was then refused.
func (d *pageData) IsAction(name string) bool {
	return strings.HasSuffix(d.CurrentPath, "/"+name+"/")
}
