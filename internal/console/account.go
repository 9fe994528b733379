package console

import (
	"net/http"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// accountRows is how many rows of each list a page has.
const accountRows = 50

// accountShown is the page of one account.
type accountShown struct {
	head
	accountview.Sheet
	Key      landfall.Key
	Name     string // of the supplier
	ErasedAt time.Time
	Revealed bool
	Create   creatable
}

// account shows what support asks for.
func account(v *visit) (any, error) {
	return v.account(landfall.Key{Supplier: v.value("supplier"), External: v.value("external")}, false)
}

// accountByNumber sends to the account that has a number.
func accountByNumber(v *visit) (any, error) {
	key, err := v.operator().KeyOf(v.ctx(), v.value("number"))
	if err != nil {
		return nil, err
	}
	http.Redirect(v.Writer, v.Request, accountPath(key), http.StatusSeeOther)
	// The verb has written the answer: nil tells visit.answer to add nothing to it.
	return nil, nil //nolint:nilnil // it is answered
}

// accountPath escapes both parts: they come from a supplier's data, and a slash in a number must
// not look like one between parts.
func accountPath(key landfall.Key) string { return address("accounts", key.Supplier, key.External) }

// account gives the page, with what is personal or without.
func (v *visit) account(key landfall.Key, personal bool) (any, error) {
	found, err := v.operator().Sheet(v.ctx(), key, operate.AccountLook{
		AccountPageQuery: landfall.AccountPageQuery{
			Rows: accountRows, EntriesBefore: v.place("ledger"), NotesBefore: v.place("notes"), StatementsBefore: v.place("statements"),
		},
		Before: v.instant("before"), From: v.place("from"), To: v.place("to"),
	})
	if err != nil {
		return nil, err
	}
	// What may be seen is decided by the portrait and not by the view, so that no view can show
	// more.
	options := accountview.Options{Personal: personal, Now: v.console.Clock()}
	if places := v.console.Files; places != nil {
		options.Locate = func(path string) string { return places.Location(found.Supplier, path) }
	}
	// An account that was not created yet has no number of ours, so the title begins as the
	// supplier's and is replaced below.
	shown := accountShown{
		head: head{Title: key.External, Wide: true, Trail: []crumb{
			{"Suppliers", Root}, {key.Supplier, address("suppliers", key.Supplier)}, {"Accounts", address("suppliers", key.Supplier, "accounts")},
		}},
		Sheet: accountview.SheetOf(accountview.SheetFacts(found), accountRows, options),
		Key:   key, Name: found.Supplier.Name, ErasedAt: found.Process.ErasedAt, Revealed: personal,
	}
	if shown.AccountNumber != "" {
		shown.Title = string(shown.AccountNumber)
	}
	// Teams and the last run are only asked for where the button can be shown.
	if may(v.me.Role, landfall.ConsoleOperator) && (found.Process.State == landfall.Staged || found.Process.State == landfall.Claimed) {
		shown.Create, err = v.creatable(found.Supplier)
	}
	return shown, err
}

// reveal shows the same page with what is personal. It lasts as long as the
// page does: whoever goes on sees masks again.
func reveal(v *visit) (any, error) {
	key := landfall.Key{Supplier: v.value("supplier"), External: v.value("external")}
	// The reason is in the audit before anything personal is read: who cannot be written down
	// sees nothing.
	if err := v.operator().Reveal(v.ctx(), key, v.typed("reason")); err != nil {
		return nil, err
	}
	return v.account(key, true)
}

// place reads a place in a list from the address; 0 is none.
func (v *visit) place(name string) int {
	place, err := strconv.Atoi(v.query(name))
	// An address that somebody mangled by hand shows the first page rather than an error.
	if err != nil || place < 0 {
		return 0
	}
	return place
}

// instant reads a moment from the address, in microseconds.
func (v *visit) instant(name string) time.Time {
	micros, err := strconv.ParseInt(v.query(name), 10, 64)
	if err != nil || micros <= 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// accounts are the pages and acts about single accounts.
func accounts() []page {
	const path = "accounts/{supplier}/{external}/"
	shown := reads(path, account, "account")
	// Revealing is an act, since it is audited and wants a form that no other site can send, but
	// support may do it: it is what support is for.
	revealing := acts(path+"reveal/", reveal, shown)
	revealing.role = landfall.ConsoleSupport
	return []page{
		shown, reads("accounts/{number}/", accountByNumber, "account"), revealing,
		acts(path+"skip/", skip, shown), acts(path+"unskip/", unskip, shown), acts(path+"undo/", undo, shown),
		acts(path+"erase/", erase, shown), acts(path+"dry-run/", dryRun, shown), acts(path+"process/", process, shown),
	}
}
