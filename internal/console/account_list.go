package console

import (
	"iter"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// accountsPerPage is how many accounts a page of a list has.
const accountsPerPage = 100

// How many failures are looked at for one page of those with a code: few for the
// first, which is to be there at once, and more for whoever looks for a rare one
// and goes on from where that page ended.
const (
	firstScanLimit = 2_000
	maxScanLimit   = 20_000
)

// accountList is a page of a supplier's accounts.
type accountList struct {
	pageHead
	Code            string
	Filter          string
	ErrorCode, Attr string // of failures; "": all
	Rows            []accountRow
	Next            string // the address of the next page
	CSV             string
	Filters         []listFilter
	newRows
}

// listFilter is a list beside this one, and how many accounts it has.
type listFilter struct {
	Name, Path string
	Count      int64
}

// newRows is how a list learns that it has grown.
type newRows struct {
	ReloadPath string // its own address
	LivePath   string // what tells how many there are now
	Count      int64
}

// listStates are the states a list can be of, in the order of an account's way.
// The last one is of both kinds that have a failure on record.
var listStates = []string{"all", "pending", "imported", "failed", "refused", "skipped", failedOrRefused}

const failedOrRefused = "faulty"

// ShowsFailures says whether the list is of failures.
func (l accountList) ShowsFailures() bool {
	return l.Filter == "failed" || l.Filter == "refused" || l.Filter == failedOrRefused
}

// stateCounts says how many accounts each list has.
func (s supplierSummary) stateCounts() map[string]int64 {
	// Refused stagings are not added: nothing was kept of them that a run could create.
	waiting := s.Staged + s.InProgress + s.Failed
	return map[string]int64{
		"all": waiting + s.Imported, "pending": waiting, "imported": s.Imported, "failed": s.Failed, "refused": s.Refused,
		"skipped": s.Skipped, failedOrRefused: s.Failed + s.Refused,
	}
}

// newRowsOf asks how many accounts a list has, for whoever looks at it.
func (r *pageRequest) newRowsOf(state string) (newRows, map[string]int64, error) {
	found, err := r.operator().Stand(r.Context(), r.PathValue("supplier"))
	counts := supplierSummary{found}.stateCounts()
	return newRows{
		ReloadPath: r.URL.RequestURI(), LivePath: consolePath("suppliers", r.PathValue("supplier"), "accounts") + "live?state=" + state, Count: counts[state],
	}, counts, err
}

// showNewAccounts is the one part of a list that changes by itself.
func showNewAccounts(r *pageRequest) (any, error) {
	found, _, err := r.newRowsOf(r.listState())
	return found, err
}

// listState is which list was asked for.
func (r *pageRequest) listState() string {
	if state := r.queryParam("state"); slices.Contains(listStates, state) {
		return state
	}
	// An unknown word in the address is no error: bookmarks may be older than the lists.
	return "all"
}

var failureKinds = map[string]landfall.FailureKind{"failed": landfall.AttemptFailures, "refused": landfall.StagingRefusals}

var processFilters = map[string]landfall.ProcessFilter{
	"all": landfall.AllProcesses, "pending": landfall.PendingProcesses, "imported": landfall.ImportedProcesses, "skipped": landfall.SkippedProcesses,
}

// showAccounts lists accounts of a supplier.
func showAccounts(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	shown := accountList{
		pageHead: supplierHead(code, code+": accounts", "accounts"), Code: code, Filter: r.listState(), ErrorCode: r.queryParam("code"), Attr: r.queryParam("attr"),
	}
	shown.Wide = true
	var counts map[string]int64
	var err error
	// Counted before the rows are read: who comes in between is news, and not lost.
	if shown.newRows, counts, err = r.newRowsOf(shown.Filter); err != nil {
		return nil, err
	}
	for _, name := range listStates {
		// The combined list is reached from the failures only: beside its two halves it would
		// count the same accounts twice.
		if name != failedOrRefused {
			shown.Filters = append(shown.Filters, listFilter{name, listPath(code, "accounts/", name, "", "", ""), counts[name]})
		}
	}
	shown.CSV = listPath(code, "accounts.csv", shown.Filter, shown.ErrorCode, shown.Attr, "")
	rows, err := r.accountRows(shown.Filter, r.queryParam("after"))
	if err != nil {
		return nil, err
	}
	looked, last, most := 0, "", firstScanLimit
	if r.queryParam("after") != "" {
		most = maxScanLimit
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		// The bound on what was looked at ends the page too, perhaps with no row at all: its next
		// link goes on from the last one looked at, so that none is skipped.
		if len(shown.Rows) == accountsPerPage || looked == most {
			shown.Next = listPath(code, "accounts/", shown.Filter, shown.ErrorCode, shown.Attr, last)
			break
		}
		looked, last = looked+1, row.cursor()
		if row.matches(shown.ErrorCode, shown.Attr) {
			shown.Rows = append(shown.Rows, row)
		}
	}
	return shown, nil
}

// listPath writes the address of a list.
func listPath(code, name, state, by, attr, after string) string {
	query := url.Values{"state": {state}}
	for name, value := range map[string]string{"code": by, "attr": attr, "after": after} {
		if value != "" {
			query.Set(name, value)
		}
	}
	return consolePath("suppliers", code) + name + "?" + query.Encode()
}

// accountRows streams a list from some place on.
func (r *pageRequest) accountRows(state, after string) (iter.Seq2[accountRow, error], error) {
	code := r.PathValue("supplier")
	if state == "failed" || state == "refused" || state == failedOrRefused {
		failed, err := r.operator().FailedAccounts(r.Context(), landfall.FailureQuery{Supplier: code, After: after, Which: failureKinds[state]})
		return mapRows(failed, func(one landfall.FailedProcess) accountRow {
			row := accountRow{External: one.External, State: "failed", FailedAt: one.Failure.At, Failure: &one.Failure}
			if one.Failure.AtStaging {
				row.State = "refused"
			}
			return row
		}), err
	}
	query := landfall.ProcessQuery{Supplier: code, Filter: processFilters[state]}
	// A place that cannot be read begins the list anew.
	if at, external, is := strings.Cut(after, "~"); is {
		if micros, err := strconv.ParseInt(at, 10, 64); err == nil {
			query.After = &landfall.ProcessCursor{FirstStagedAt: time.UnixMicro(micros), External: external}
		}
	}
	found, err := r.operator().Accounts(r.Context(), query)
	return mapRows(found, func(one landfall.ProcessEntry) accountRow {
		row := accountRow{External: one.External, AccountNumber: one.AccountNumber, State: "staged", StagedAt: one.FirstStagedAt, CreatedAt: one.AccountCreatedAt}
		switch {
		case state == "skipped":
			row.State = "skipped"
		case one.AccountNumber != "":
			row.State = "imported"
		}
		return row
	}), err
}

// accountsCSV writes the whole list while it is read.
func accountsCSV(r *pageRequest) (any, error) {
	state := r.listState()
	rows, err := r.accountRows(state, "")
	if err != nil {
		return nil, err
	}
	out := r.csvWriter("accounts-" + state + ".csv")
	_ = out.Write([]string{"import_supplier", "external_account_number", "state", "platform_account_number", "first_staged_at", "account_created_at", "failed_at", "errors"})
	for row, err := range rows {
		if err != nil {
			// The header is out: a line that is no account says that the end is missing.
			_ = out.Write([]string{"", "", "THE LIST IS NOT COMPLETE: " + landfall.UserError("listing accounts", err).Detail})
			break
		}
		if !row.matches(r.queryParam("code"), r.queryParam("attr")) {
			continue
		}
		if out.Write(escapeFormulas(r.PathValue("supplier"), row.External, row.State, row.AccountNumber,
			formatInstant(row.StagedAt), formatInstant(row.CreatedAt), formatInstant(row.FailedAt), row.Codes())) != nil {
			return nil, nil //nolint:nilnil // who has left needs no more
		}
	}
	out.Flush()
	return nil, nil //nolint:nilnil // it is answered
}

func formatInstant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return calendar.FormatInstant(at)
}

// listRoutes are the pages of a supplier that lead down to accounts.
func listRoutes() []route {
	const path = "suppliers/{supplier}/"
	list := get(path+"accounts/", showAccounts, "accounts")
	table := get(path+"accounts.csv", accountsCSV, "")
	table.streaming = true
	compared := get(path+"reconciliation/", showReconciliation, "reconciliation")
	return []route{
		list, liveRoute(path+"accounts/live", showNewAccounts, "list-news"), table, get(path+"failures/", showFailures, "failures"),
		liveRoute(path+"failures/live", showFailures, "failure-parts"), compared,
		get(path+"reconciliation/accounts/", showDifference, "behind"),
		get(path+"reconciliation/signed/{id}/", downloadSignOff, ""),
		post(path+"reconciliation/sign-off/", signOff, compared),
	}
}
