package console

import (
	"iter"
	"net/url"
	"slices"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/calendar"
)

// accountsPerPage is the number of rows of an account list.
const accountsPerPage = 100

// How many failures are scanned for one page with an error code: few for the first
// page, which must be fast, and more for the following ones.
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
	Next            string
	CSV             string
	Filters         []listFilter
	newRows
}

// listFilter links to a list and has its length.
type listFilter struct {
	Name, Path string
	Count      int64
}

// newRows tells a list that it has grown.
type newRows struct {
	ReloadPath string
	LivePath   string
	Count      int64
}

// listStates are the lists of accounts. The last one combines the two before
// skipped and is only linked from the failures page.
var listStates = []string{"all", "staged", "imported", "failed", "refused", "skipped", failedOrRefused}

const failedOrRefused = "faulty"

// ShowsFailures reports whether the list has failures.
func (l accountList) ShowsFailures() bool { return listsFailures(l.Filter) }

func listsFailures(state string) bool {
	return state == "failed" || state == "refused" || state == failedOrRefused
}

// stateCounts returns the length of each list.
func (s supplierSummary) stateCounts() map[string]int64 {
	return map[string]int64{
		"all": s.All(), "staged": s.Staged + s.InProgress, "imported": s.Imported, "failed": s.Failed, "refused": s.Refused,
		"skipped": s.Skipped, failedOrRefused: s.Failed + s.Refused,
	}
}

// newRowsOf returns the length of a list, and of all others.
func (r *pageRequest) newRowsOf(state string) (newRows, map[string]int64, error) {
	code := r.PathValue("supplier")
	summary, err := r.operator().SupplierState(r.Context(), code)
	lengths := supplierSummary{summary}.stateCounts()
	return newRows{
		ReloadPath: r.URL.RequestURI(), LivePath: consolePath("suppliers", code, "accounts") + "live?state=" + state, Count: lengths[state],
	}, lengths, err
}

// showNewAccounts is the part of a list that updates by itself.
func showNewAccounts(r *pageRequest) (any, error) {
	rows, _, err := r.newRowsOf(r.listState())
	return rows, err
}

// listState is the requested list. An unknown one is not an error: bookmarks may be old.
func (r *pageRequest) listState() string {
	if state := r.queryParam("state"); slices.Contains(listStates, state) {
		return state
	}
	return "all"
}

var failureKinds = map[string]landfall.FailureKind{"failed": landfall.AttemptFailures, "refused": landfall.StagingRefusals}

var processFilters = map[string]landfall.ProcessFilter{
	"all": landfall.AllProcesses, "staged": landfall.PendingProcesses, "imported": landfall.ImportedProcesses, "skipped": landfall.SkippedProcesses,
}

func showAccounts(r *pageRequest) (any, error) {
	code := r.PathValue("supplier")
	page := accountList{
		pageHead: supplierHead(code, code+": accounts", "accounts"), Code: code, Filter: r.listState(),
		ErrorCode: r.queryParam("code"), Attr: r.queryParam("attr"),
	}
	var lengths map[string]int64
	var err error
	// Count before reading the rows: accounts that arrive in between count as new.
	if page.newRows, lengths, err = r.newRowsOf(page.Filter); err != nil {
		return nil, err
	}
	for _, name := range listStates {
		if name != failedOrRefused {
			page.Filters = append(page.Filters, listFilter{name, listPath(code, "accounts/", name, "", "", ""), lengths[name]})
		}
	}
	page.CSV = listPath(code, "accounts.csv", page.Filter, page.ErrorCode, page.Attr, "")
	after := r.queryParam("after")
	rows, err := r.accountRows(page.Filter, after)
	if err != nil {
		return nil, err
	}
	scanned, last, limit := 0, "", firstScanLimit
	if after != "" {
		limit = maxScanLimit
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		// The scan limit also ends a page, perhaps without rows. The next page
		// continues after the last row that was scanned.
		if len(page.Rows) == accountsPerPage || scanned == limit {
			page.Next = listPath(code, "accounts/", page.Filter, page.ErrorCode, page.Attr, last)
			break
		}
		scanned, last = scanned+1, row.cursor()
		if row.matches(page.Filter, page.ErrorCode, page.Attr) {
			page.Rows = append(page.Rows, row)
		}
	}
	return page, nil
}

func listPath(code, name, state, errorCode, attr, after string) string {
	query := url.Values{"state": {state}}
	for param, text := range map[string]string{"code": errorCode, "attr": attr, "after": after} {
		if text != "" {
			query.Set(param, text)
		}
	}
	return consolePath("suppliers", code) + name + "?" + query.Encode()
}

// allParts are the lists that make up the list of all accounts. The first has
// those that are staged, failed or imported.
var allParts = []string{"all", "skipped", "refused"}

// accountRows streams a list from a position on. In the list of all accounts a
// position begins with the part.
func (r *pageRequest) accountRows(state, after string) (iter.Seq2[accountRow, error], error) {
	if state != "all" {
		return r.rowsOf(state, after)
	}
	part, position, _ := strings.Cut(after, "!")
	first := max(0, slices.Index(allParts, part))
	rows, err := r.rowsOf(allParts[first], position)
	if err != nil {
		return nil, err
	}
	return func(yield func(accountRow, error) bool) {
		for i := first; ; {
			for row, err := range rows {
				row.part = allParts[i]
				if !yield(row, err) || err != nil {
					return
				}
			}
			if i++; i == len(allParts) {
				return
			}
			var err error
			if rows, err = r.rowsOf(allParts[i], ""); err != nil {
				yield(accountRow{}, err)
				return
			}
		}
	}, nil
}

// rowsOf streams one list of the store.
func (r *pageRequest) rowsOf(state, after string) (iter.Seq2[accountRow, error], error) {
	code := r.PathValue("supplier")
	if listsFailures(state) {
		rows, err := r.operator().FailedAccounts(r.Context(), landfall.FailureQuery{
			Supplier: code, After: after, Which: failureKinds[state], ByState: state != failedOrRefused,
		})
		return mapRows(rows, failedRow), err
	}
	rows, err := r.operator().Accounts(r.Context(), landfall.ProcessQuery{Supplier: code, Filter: processFilters[state], After: parseCursor(after)})
	return mapRows(rows, func(one landfall.ProcessEntry) accountRow { return processRow(one, state) }), err
}

// downloadAccounts writes the whole list as CSV.
func downloadAccounts(r *pageRequest) (any, error) {
	state := r.listState()
	rows, err := r.accountRows(state, "")
	if err != nil {
		return nil, err
	}
	out := r.csvWriter("accounts-" + state + ".csv")
	_ = out.Write("import_supplier", "external_account_number", "state", "platform_account_number", "first_staged_at", "account_created_at", "failed_at", "errors")
	for row, err := range rows {
		if err != nil {
			// The status is sent already: a last line says that the file is incomplete.
			_ = out.Write("", "", "THE LIST IS NOT COMPLETE: "+landfall.UserError("listing accounts", err).Detail)
			break
		}
		if !row.matches(state, r.queryParam("code"), r.queryParam("attr")) {
			continue
		}
		if out.Write(r.PathValue("supplier"), row.External, row.State, row.AccountNumber,
			formatInstant(row.StagedAt), formatInstant(row.CreatedAt), formatInstant(row.FailedAt), row.Codes()) != nil {
			break // the reader has left
		}
	}
	_ = out.Flush() // the reader has left
	return nil, nil //nolint:nilnil // the response is written
}

func formatInstant(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return calendar.FormatInstant(at)
}

// listRoutes are the pages of a supplier that lead to accounts.
func listRoutes() []route {
	const base = "suppliers/{supplier}/"
	download := get(base+"accounts.csv", downloadAccounts, "")
	download.streaming = true
	failures := get(base+"failures/", showFailures, "failures")
	reconciliation := get(base+"reconciliation/", showReconciliation, "reconciliation")
	totals := get(base+"reconciliation/totals/", showTotals, "totals")
	morePairs := get(base+"duplicates/more/", showDuplicates, "pairs")
	morePairs.partial = true
	return []route{
		get(base+"accounts/", showAccounts, "accounts"), liveRoute(base+"accounts/live", showNewAccounts, "new-rows"), download,
		get(base+"duplicates/", showDuplicates, "duplicates"), morePairs,
		failures, liveRoute(base+"failures/live", showFailures, "failures-live"), reconciliation,
		post(base+"failures/retry/", retryFailures, failures),
		get(base+"reconciliation/accounts/", showDifference, "difference"),
		get(base+"reconciliation/signed/{id}/", downloadSignOff, ""),
		post(base+"reconciliation/sign-off/", signOff, reconciliation),
		totals, post(base+"reconciliation/totals/", action(pathTo("suppliers", "{supplier}", "reconciliation"), "Control totals saved.", setTotals), totals),
	}
}
