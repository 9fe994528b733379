package console

import (
	"encoding/csv"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/service/operate"
)

// auditPage is a page of the audit, newest first.
type auditPage struct {
	pageHead
	Entries     []landfall.AuditEntry
	Next        string    // address of the page behind this one; "" when this is the last
	CSV         string    // the same as a file, all of it
	ScanFurther string    // address of a longer look from where this one ended; "" when it did not end early
	ScannedTo   time.Time // how far back it looked then
	newRows
}

const (
	auditPageRows = 100
	// firstAuditScan is how many entries a page looks at for those that a filter
	// lets through: it is to be there at once. Whoever wants a rarer one has all
	// of them looked at for so long.
	firstAuditScan = 3_000
	auditTimeout   = 5 * time.Second
	// maxNewEntries bounds how many new entries are looked at to count them.
	maxNewEntries = 1_000
)

// auditFilter reads which entries are wanted.
func (r *pageRequest) auditFilter() (operate.AuditFilter, error) {
	filter := operate.AuditFilter{Actor: r.queryParam("actor"), Action: r.queryParam("action"), Subject: r.queryParam("subject")}
	for name, into := range map[string]*time.Time{"since": &filter.Since, "until": &filter.Until} {
		text := r.queryParam(name)
		if text == "" {
			continue
		}
		// Addresses made by us carry whole instants; a form has only days, which are days of the
		// reader's zone and not of UTC.
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			zone, failed := time.LoadLocation(r.zone())
			if failed != nil {
				zone = time.UTC
			}
			if at, err = time.ParseInLocation(time.DateOnly, text, zone); err != nil {
				return filter, landfall.Refuse(landfall.CodeValidationFailed, "A day is written 2026-11-16.")
			}
			if name == "until" {
				at = at.AddDate(0, 0, 1) // that day included
			}
		}
		*into = at
	}
	return filter, nil
}

func showAudit(r *pageRequest) (any, error) {
	filter, err := r.auditFilter()
	if err != nil {
		return nil, err
	}
	page := auditPage{pageHead: adminHead("Audit", "audit"), CSV: Root + "admin/audit.csv?" + r.URL.RawQuery}
	page.Wide = true
	filter.Before = int64(r.queryInt("before"))
	began, looked, newest, last := time.Now(), 0, int64(0), int64(0)
	// Look is called for every entry that is read, matching or not: a filter that matches nothing
	// would otherwise read the whole audit behind one page.
	filter.Look = func(id int64, at time.Time) bool {
		enough := looked >= firstAuditScan
		if r.queryParam("deep") != "" {
			enough = time.Since(began) > auditTimeout
		}
		if enough {
			page.ScanFurther = r.auditPath("", url.Values{"before": {strconv.FormatInt(last, 10)}, "deep": {"1"}})
			return false
		}
		looked, newest, last, page.ScannedTo = looked+1, max(newest, id), id, at
		return true
	}
	for link, err := range r.operator().Audit(r.Context(), filter) {
		if err != nil {
			return nil, err
		}
		// What one request did is one entry, and stays on one page.
		if count := len(page.Entries); count >= auditPageRows && link.ID != page.Entries[count-1].ID {
			page.Next = r.auditPath("", url.Values{"before": {strconv.FormatInt(page.Entries[count-1].ID, 10)}, "deep": nil})
			break
		}
		page.Entries = append(page.Entries, link.AuditEntry)
	}
	// News are only for a page whose top is the present: an older page, or one with an end,
	// cannot grow at its top.
	if filter.Before == 0 && filter.Until.IsZero() {
		page.newRows = newRows{ReloadPath: r.URL.RequestURI(), LivePath: r.auditPath("live", url.Values{"after": {strconv.FormatInt(newest, 10)}})}
	}
	return page, nil
}

// auditPath is an address of the audit with the filter of this one.
func (r *pageRequest) auditPath(name string, with url.Values) string {
	query := r.URL.Query()
	maps.Copy(query, with)
	return Root + "admin/audit/" + name + "?" + query.Encode()
}

// showNewAuditEntries counts what was done since the newest entry that a page has.
func showNewAuditEntries(r *pageRequest) (any, error) {
	filter, err := r.auditFilter()
	if err != nil {
		return nil, err
	}
	// The count is what passes the filter, but the bound is on what is looked at: a page that was
	// left open for days must not read a day's work every second.
	found, looked := newRows{}, 0
	filter.After = int64(r.queryInt("after"))
	filter.Look = func(int64, time.Time) bool { looked++; return looked <= maxNewEntries }
	for _, err := range r.operator().Audit(r.Context(), filter) {
		if err != nil {
			return nil, err
		}
		found.Count++
	}
	return found, nil
}

// downloadAudit writes what a page of the audit shows as CSV, to the end.
func downloadAudit(r *pageRequest) (any, error) {
	filter, err := r.auditFilter()
	if err != nil {
		return nil, err
	}
	// From here on lines may be out, and an error can no longer be answered as one: cutOff breaks
	// the connection instead.
	out := r.csvWriter("audit.csv")
	if err := out.Write([]string{"at", "actor", "action", "subject", "detail", "source", "request_id"}); err != nil {
		return nil, nil // the reader has left
	}
	for link, err := range r.operator().Audit(r.Context(), filter) {
		if err != nil {
			return nil, r.abortDownload(err)
		}
		if err := out.Write(escapeFormulas(link.At.UTC().Format(time.RFC3339Nano), link.Actor, link.Action, link.Subject, link.Detail, link.Source, link.RequestID)); err != nil {
			return nil, nil // likewise
		}
	}
	out.Flush()
	return nil, nil
}

// csvWriter begins a file for spreadsheets.
func (r *pageRequest) csvWriter(name string) *csv.Writer {
	header := r.Writer.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+url.PathEscape(name)+`"`)
	return csv.NewWriter(r.Writer)
}

// escapeFormulas keeps spreadsheets from taking data for formulas.
func escapeFormulas(cells ...string) []string {
	for i, cell := range cells {
		// Control characters count as well: spreadsheets skip them and then see the formula
		// behind.
		if cell != "" && (cell[0] == '=' || cell[0] == '+' || cell[0] == '-' || cell[0] == '@' || cell[0] == '\t' || cell[0] == '\r') {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// abortDownload ends a file that cannot be finished so that nobody takes it for whole.
func (r *pageRequest) abortDownload(err error) error {
	r.console.Logger.WarnContext(r.Context(), "a file of the console was cut off", "error", err)
	// Without the end of the chunked body a browser reports a failed download; net/http takes
	// this panic as the wish for exactly that and logs nothing.
	panic(http.ErrAbortHandler)
}
