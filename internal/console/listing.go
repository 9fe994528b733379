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

// listRows is how many accounts a page of a list has.
const listRows = 100

// How many failures are looked at for one page of those with a code: few for the
// first, which is to be there at once, and more for whoever looks for a rare one
// and goes on from where that page ended.
const (
	firstLooked = 2_000
	mostLooked  = 20_000
)

// accountList is a page of a supplier's accounts.
type accountList struct {
	head
	Code     string
	Filter   string
	By, Attr string // of failures; "": all
	Rows     []listed
	Next     string // the address of the next page
	CSV      string
	Filters  []filter
	news
}

// filter is a list beside this one, and how many accounts it has.
type filter struct {
	Name, Path string
	Count      int64
}

// news is how a list learns that it has grown.
type news struct {
	Again string // its own address
	Live  string // what tells how many there are now
	Count int64
}

// listFilters are the states a list can be of, in the order of an account's way.
// The last one is of both kinds that have a failure on record.
var listFilters = []string{"all", "pending", "imported", "failed", "refused", "skipped", faulty}

const faulty = "faulty"

// Faulty says whether the list is of failures.
func (l accountList) Faulty() bool {
	return l.Filter == "failed" || l.Filter == "refused" || l.Filter == faulty
}

// counts says how many accounts each list has.
func (s stand) counts() map[string]int64 {
	// Refused stagings are not added: nothing was kept of them that a run could create.
	waiting := s.Staged + s.InProgress + s.Failed
	return map[string]int64{
		"all": waiting + s.Imported, "pending": waiting, "imported": s.Imported, "failed": s.Failed, "refused": s.Refused,
		"skipped": s.Skipped, faulty: s.Failed + s.Refused,
	}
}

// newsOf asks how many accounts a list has, for whoever looks at it.
func (v *visit) newsOf(state string) (news, map[string]int64, error) {
	found, err := v.operator().Stand(v.ctx(), v.value("supplier"))
	counts := stand{found}.counts()
	return news{
		Again: v.URL.RequestURI(), Live: address("suppliers", v.value("supplier"), "accounts") + "live?state=" + state, Count: counts[state],
	}, counts, err
}

// listNews is the one part of a list that changes by itself.
func listNews(v *visit) (any, error) {
	found, _, err := v.newsOf(v.listState())
	return found, err
}

// listState is which list was asked for.
func (v *visit) listState() string {
	if state := v.query("state"); slices.Contains(listFilters, state) {
		return state
	}
	// An unknown word in the address is no error: bookmarks may be older than the lists.
	return "all"
}

var failureKinds = map[string]landfall.FailureKind{"failed": landfall.AttemptFailures, "refused": landfall.StagingRefusals}

var processFilters = map[string]landfall.ProcessFilter{
	"all": landfall.AllProcesses, "pending": landfall.PendingProcesses, "imported": landfall.ImportedProcesses, "skipped": landfall.SkippedProcesses,
}

// accountsOf lists accounts of a supplier.
func accountsOf(v *visit) (any, error) {
	code := v.value("supplier")
	shown := accountList{
		head: supplierHead(code, code+": accounts", "accounts"), Code: code, Filter: v.listState(), By: v.query("code"), Attr: v.query("attr"),
	}
	shown.Wide = true
	var counts map[string]int64
	var err error
	// Counted before the rows are read: who comes in between is news, and not lost.
	if shown.news, counts, err = v.newsOf(shown.Filter); err != nil {
		return nil, err
	}
	for _, name := range listFilters {
		// The combined list is reached from the failures only: beside its two halves it would
		// count the same accounts twice.
		if name != faulty {
			shown.Filters = append(shown.Filters, filter{name, listPath(code, "accounts/", name, "", "", ""), counts[name]})
		}
	}
	shown.CSV = listPath(code, "accounts.csv", shown.Filter, shown.By, shown.Attr, "")
	rows, err := v.accountRows(shown.Filter, v.query("after"))
	if err != nil {
		return nil, err
	}
	looked, last, most := 0, "", firstLooked
	if v.query("after") != "" {
		most = mostLooked
	}
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		// The bound on what was looked at ends the page too, perhaps with no row at all: its next
		// link goes on from the last one looked at, so that none is skipped.
		if len(shown.Rows) == listRows || looked == most {
			shown.Next = listPath(code, "accounts/", shown.Filter, shown.By, shown.Attr, last)
			break
		}
		looked, last = looked+1, row.place()
		if row.matches(shown.By, shown.Attr) {
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
	return address("suppliers", code) + name + "?" + query.Encode()
}

// accountRows streams a list from some place on.
func (v *visit) accountRows(state, after string) (iter.Seq2[listed, error], error) {
	code := v.value("supplier")
	if state == "failed" || state == "refused" || state == faulty {
		failed, err := v.operator().FailedAccounts(v.ctx(), landfall.FailureQuery{Supplier: code, After: after, Which: failureKinds[state]})
		return turned(failed, func(one landfall.FailedProcess) listed {
			row := listed{External: one.External, State: "failed", FailedAt: one.Failure.At, Failure: &one.Failure}
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
	found, err := v.operator().Accounts(v.ctx(), query)
	return turned(found, func(one landfall.ProcessEntry) listed {
		row := listed{External: one.External, AccountNumber: one.AccountNumber, State: "staged", StagedAt: one.FirstStagedAt, CreatedAt: one.AccountCreatedAt}
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
func accountsCSV(v *visit) (any, error) {
	state := v.listState()
	rows, err := v.accountRows(state, "")
	if err != nil {
		return nil, err
	}
	out := v.table("accounts-" + state + ".csv")
	_ = out.Write([]string{"import_supplier", "external_account_number", "state", "platform_account_number", "first_staged_at", "account_created_at", "failed_at", "errors"})
	for row, err := range rows {
		if err != nil {
			// The header is out: a line that is no account says that the end is missing.
			_ = out.Write([]string{"", "", "THE LIST IS NOT COMPLETE: " + landfall.UserError("listing accounts", err).Detail})
			break
		}
		if !row.matches(v.query("code"), v.query("attr")) {
			continue
		}
		if out.Write(harmless(v.value("supplier"), row.External, row.State, row.AccountNumber,
			moment(row.StagedAt), moment(row.CreatedAt), moment(row.FailedAt), row.Codes())) != nil {
			return nil, nil //nolint:nilnil // who has left needs no more
		}
	}
	out.Flush()
	return nil, nil //nolint:nilnil // it is answered
}

func moment(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return calendar.FormatInstant(at)
}

// listPages are the pages of a supplier that lead down to accounts.
func listPages() []page {
	const path = "suppliers/{supplier}/"
	list := reads(path+"accounts/", accountsOf, "accounts")
	table := reads(path+"accounts.csv", accountsCSV, "")
	table.endless = true
	compared := reads(path+"reconciliation/", reconciled, "reconciliation")
	return []page{
		list, live(path+"accounts/live", listNews, "list-news"), table, reads(path+"failures/", failures, "failures"),
		live(path+"failures/live", failures, "failure-parts"), compared,
		reads(path+"reconciliation/accounts/", behind, "behind"),
		reads(path+"reconciliation/signed/{id}/", signed, ""),
		acts(path+"reconciliation/sign-off/", signOff, compared),
	}
}
