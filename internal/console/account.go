package console

import (
	"net/http"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// accountPageRows is how many rows of each list a page has.
const accountPageRows = 50

// accountPage is the page of one account.
type accountPage struct {
	pageHead
	accountview.Page
	Key        landfall.Key
	Name       string // of the supplier
	ErasedAt   time.Time
	Revealed   bool
	CreateForm createForm
}

// showAccount shows what support asks for.
func showAccount(r *pageRequest) (any, error) {
	return r.accountPage(landfall.Key{Supplier: r.PathValue("supplier"), External: r.PathValue("external")}, false)
}

// accountByNumber sends to the account that has a number.
func accountByNumber(r *pageRequest) (any, error) {
	key, err := r.operator().KeyOf(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	http.Redirect(r.Writer, r.Request, accountPath(key), http.StatusSeeOther)
	// The verb has written the answer: nil tells visit.answer to add nothing to it.
	return nil, nil //nolint:nilnil // it is answered
}

// accountPath escapes both parts: they come from a supplier's data, and a slash in a number must
// not look like one between parts.
func accountPath(key landfall.Key) string { return consolePath("accounts", key.Supplier, key.External) }

// accountPage gives the page, with what is personal or without.
func (r *pageRequest) accountPage(key landfall.Key, personal bool) (any, error) {
	found, err := r.operator().Sheet(r.Context(), key, operate.AccountLook{
		AccountPageQuery: landfall.AccountPageQuery{
			Rows: accountPageRows, EntriesBefore: r.queryInt("ledger"), NotesBefore: r.queryInt("notes"), StatementsBefore: r.queryInt("statements"),
		},
		Before: r.queryTime("before"), From: r.queryInt("from"), To: r.queryInt("to"),
	})
	if err != nil {
		return nil, err
	}
	// What may be seen is decided by the portrait and not by the view, so that no view can show
	// more.
	options := accountview.Options{Personal: personal, Now: r.console.Clock()}
	if places := r.console.Files; places != nil {
		options.DocumentURL = func(path string) string { return places.Location(found.Supplier, path) }
	}
	// An account that was not created yet has no number of ours, so the title begins as the
	// supplier's and is replaced below.
	shown := accountPage{
		pageHead: pageHead{Title: key.External, Wide: true, Breadcrumbs: []breadcrumb{
			{"Suppliers", Root}, {key.Supplier, consolePath("suppliers", key.Supplier)}, {"Accounts", consolePath("suppliers", key.Supplier, "accounts")},
		}},
		Page: accountview.NewPage(accountview.PageFacts(found), accountPageRows, options),
		Key:  key, Name: found.Supplier.Name, ErasedAt: found.Process.ErasedAt, Revealed: personal,
	}
	if shown.AccountNumber != "" {
		shown.Title = string(shown.AccountNumber)
	}
	// Teams and the last run are only asked for where the button can be shown.
	if allows(r.me.Role, landfall.ConsoleOperator) && (found.Process.State == landfall.Staged || found.Process.State == landfall.Claimed) {
		shown.CreateForm, err = r.createForm(found.Supplier)
	}
	return shown, err
}

// revealAccount shows the same page with what is personal. It lasts as long as the
// page does: whoever goes on sees masks again.
func revealAccount(r *pageRequest) (any, error) {
	key := landfall.Key{Supplier: r.PathValue("supplier"), External: r.PathValue("external")}
	// The reason is in the audit before anything personal is read: who cannot be written down
	// sees nothing.
	if err := r.operator().Reveal(r.Context(), key, r.formValue("reason")); err != nil {
		return nil, err
	}
	return r.accountPage(key, true)
}

// queryInt reads a place in a list from the address; 0 is none.
func (r *pageRequest) queryInt(name string) int {
	place, err := strconv.Atoi(r.queryParam(name))
	// An address that somebody mangled by hand shows the first page rather than an error.
	if err != nil || place < 0 {
		return 0
	}
	return place
}

// queryTime reads a moment from the address, in microseconds.
func (r *pageRequest) queryTime(name string) time.Time {
	micros, err := strconv.ParseInt(r.queryParam(name), 10, 64)
	if err != nil || micros <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// accountRoutes are the pages and acts about single accounts.
func accountRoutes() []route {
	const path = "accounts/{supplier}/{external}/"
	shown := get(path, showAccount, "account")
	// Revealing is an act, since it is audited and wants a form that no other site can send, but
	// support may do it: it is what support is for.
	revealing := post(path+"reveal/", revealAccount, shown)
	revealing.role = landfall.ConsoleSupport
	return []route{
		shown, get("accounts/{number}/", accountByNumber, "account"), revealing,
		post(path+"skip/", skipAccount, shown), post(path+"unskip/", unskipAccount, shown), post(path+"undo/", undoAccount, shown),
		post(path+"erase/", eraseAccount, shown), post(path+"dry-run/", dryRunAccount, shown), post(path+"process/", processAccount, shown),
	}
}
