package console

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/console/accountview"
	"landfall/internal/service/operate"
)

// accountPageRows is the number of rows in each list of an account page.
const accountPageRows = 50

type accountPage struct {
	pageHead
	Deliveries []landfall.TargetDelivery // to a target
	accountview.Page
	Key        landfall.Key
	Name       string // of the supplier
	ErasedAt   time.Time
	Revealed   bool
	CreateForm createForm
	Undo       undoForecast // of an account that exists, for people who may undo it
	// ShowsStaged says that somebody asked to see staged data.
	ShowsStaged bool
}

func (r *pageRequest) accountKey() landfall.Key {
	return landfall.Key{Supplier: r.PathValue("supplier"), External: r.PathValue("external")}
}

func showAccount(r *pageRequest) (any, error) { return r.accountPage(r.accountKey(), false) }

// accountByNumber redirects to the account with a number.
func accountByNumber(r *pageRequest) (any, error) {
	key, err := r.operator().KeyOf(r.Context(), r.PathValue("number"))
	if err != nil {
		return nil, err
	}
	http.Redirect(r.Writer, r.Request, accountPath(key), http.StatusSeeOther)
	return nil, nil //nolint:nilnil // the response is written
}

func accountPath(key landfall.Key) string { return consolePath("accounts", key.Supplier, key.External) }

// accountPage loads the page, with or without personal data.
func (r *pageRequest) accountPage(key landfall.Key, personal bool) (any, error) {
	facts, err := r.operator().AccountPage(r.Context(), key, operate.AccountPageQuery{
		AccountPageQuery: landfall.AccountPageQuery{
			Rows: accountPageRows, EntriesBefore: r.queryInt("ledger"), NotesBefore: r.notePosition(), StatementsBefore: r.queryInt("statements"),
		},
		Before: r.queryTime("before"), From: r.queryInt("from"), To: r.queryInt("to"),
	})
	if err != nil {
		return nil, err
	}
	// The account view masks the data, so that no template can show too much.
	options := accountview.Options{Personal: personal, Now: r.console.Clock()}
	if files := r.console.Files; files != nil {
		options.DocumentURL = func(path string) string { return files.Location(facts.Supplier, path) }
	}
	page := accountPage{
		pageHead: pageHead{Title: key.External, Breadcrumbs: []breadcrumb{
			{"Suppliers", Root}, {key.Supplier, consolePath("suppliers", key.Supplier)}, {"Accounts", consolePath("suppliers", key.Supplier, "accounts")},
		}},
		Page:       accountview.NewPage(accountview.PageFacts(facts), accountPageRows, options),
		Deliveries: facts.Deliveries,
		Key:        key, Name: facts.Supplier.Name, ErasedAt: facts.Process.ErasedAt, Revealed: personal,
	}
	page.ShowsStaged = personal || r.queryInt("to") > 0
	for i := range page.Deliveries {
		// What a target says about an account may be personal.
		if !personal {
			page.Deliveries[i].Reply = ""
		}
	}
	if page.AccountNumber != "" {
		page.Title = string(page.AccountNumber)
	}
	if r.me.May(landfall.MayAct, key.Supplier) && (facts.Process.State == landfall.Staged || facts.Process.State == landfall.Claimed) {
		page.CreateForm, err = r.createForm(facts.Supplier)
	}
	if r.me.May(landfall.MayAct, key.Supplier) && facts.Account != nil {
		forecast, err := r.operator().ForecastUndoOf(r.Context(), key, false)
		if err != nil {
			return nil, err
		}
		page.Undo = undoForecast{forecast, forecast.KeptAccounts}
	}
	return page, err
}

// notePosition is where a page of notes starts, as OlderNotes writes it.
func (r *pageRequest) notePosition() landfall.NotePosition {
	cursor := parseCursor(r.queryParam("notes"))
	if cursor == nil {
		return landfall.NotePosition{}
	}
	index, _ := strconv.Atoi(cursor.External) // 0 is the first page
	return landfall.NotePosition{CreatedAt: cursor.FirstStagedAt, Index: index}
}

// OlderNotes is the position of the next page of notes, "" if this is the last.
func (p accountPage) OlderNotes() string {
	if p.NotesBefore.Index == 0 {
		return ""
	}
	return processCursor(p.NotesBefore.CreatedAt, strconv.Itoa(p.NotesBefore.Index))
}

// revealAccount shows the page with personal data. The next page masks it again.
func revealAccount(r *pageRequest) (any, error) {
	// The reason must be in the audit before personal data is read.
	if err := r.operator().RecordReveal(r.Context(), r.accountKey(), r.formValue("reason")); err != nil {
		return nil, err
	}
	return r.accountPage(r.accountKey(), true)
}

// checkCaller says whether what a caller says is right, and nothing more.
func checkCaller(r *pageRequest) (any, error) {
	fact := operate.CallerFact(r.formValue("fact"))
	matches, err := r.operator().CheckCaller(r.Context(), r.accountKey(), fact, r.formValue("said"))
	message := "No: the " + strings.ToLower(fact.Label()) + " does not match."
	if matches {
		message = "Yes: the " + strings.ToLower(fact.Label()) + " matches."
	}
	return redirect{accountPath(r.accountKey()), message}, err
}

// CallerFacts are what a caller can be asked for.
func (accountPage) CallerFacts() []operate.CallerFact { return operate.CallerFacts }

func accountRoutes() []route {
	const base = "accounts/{supplier}/{external}/"
	account := get(base, showAccount, "account")
	// Revealing is a POST, because it is audited and must not be triggered by
	// another site. Support may do it too, auditors may not.
	reveal := post(base+"reveal/", revealAccount, account).requiring(landfall.MayReveal)
	check := post(base+"check/", checkCaller, account).requiring(landfall.MayReveal)
	to := pathTo("accounts", "{supplier}", "{external}")
	change := func(name string, handle handlerFunc) route { return post(base+name+"/", handle, account) }
	return []route{
		account, get("accounts/{number}/", accountByNumber, "account"), reveal, check,
		change("skip", action(to, "Account skipped. It is not staged or created until you unskip it.", skipAccount)),
		change("unskip", action(to, "Account unskipped.", unskipAccount)),
		change("undo", undoAccount), change("dry-run", dryRunAccount), change("process", processAccount),
		change("erase", confirmedAction("supplier", to, "Personal data erased. The ledger stays.", eraseAccount)),
	}
}
