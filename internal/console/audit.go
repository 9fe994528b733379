package console

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/lib/spreadsheet"
	"landfall/internal/service/operate"
)

// auditPage is a page of the audit, newest first.
type auditPage struct {
	pageHead
	Entries     []landfall.AuditEntry
	Next        string    // path of the next page; "" on the last one
	CSV         string    // path of the same entries as a file
	ScanFurther string    // path that continues a scan that ended early; "" if it did not
	ScannedTo   time.Time // where that scan ended
	newRows
}

const (
	auditPageRows = 100
	// firstAuditScan is how many entries a page scans for a filter, to be fast. A
	// longer scan is limited by auditTimeout.
	firstAuditScan = 3_000
	auditTimeout   = limits.ConsoleAudit
	// maxNewEntries limits how many new entries are scanned to count them.
	maxNewEntries = 1_000
)

// auditFilter reads the filter from the query.
func (r *pageRequest) auditFilter() (operate.AuditFilter, error) {
	wanted := operate.AuditFilter{Actor: r.queryParam("actor"), Action: r.queryParam("action"), Subject: r.queryParam("subject")}
	for name, field := range map[string]*time.Time{"since": &wanted.Since, "until": &wanted.Until} {
		text := r.queryParam(name)
		if text == "" {
			continue
		}
		// Links have exact times. The form has dates, in the reader's zone.
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			if at, err = time.ParseInLocation(time.DateOnly, text, r.zone()); err != nil {
				return wanted, landfall.Refuse(landfall.CodeValidationFailed, "Write dates as 2026-11-16.")
			}
			if name == "until" {
				at = at.AddDate(0, 0, 1) // include that day
			}
		}
		*field = at
	}
	return wanted, nil
}

func showAudit(r *pageRequest) (any, error) {
	wanted, err := r.auditFilter()
	if err != nil {
		return nil, err
	}
	page := auditPage{pageHead: adminHead("Audit", "audit"), CSV: Root + "admin/audit.csv?" + r.URL.RawQuery}
	page.Wide = true
	wanted.Before = int64(r.queryInt("before"))
	started, scanned, newest, last := time.Now(), 0, int64(0), int64(0)
	// Look is called for every entry, so that a filter without matches does not
	// read the whole audit for one page.
	wanted.Look = func(id int64, at time.Time) bool {
		enough := scanned >= firstAuditScan
		if r.queryParam("deep") != "" {
			enough = time.Since(started) > auditTimeout
		}
		if enough {
			page.ScanFurther = r.auditPath("", url.Values{"before": {strconv.FormatInt(last, 10)}, "deep": {"1"}})
			return false
		}
		scanned, newest, last, page.ScannedTo = scanned+1, max(newest, id), id, at
		return true
	}
	for link, err := range r.operator().Audit(r.Context(), wanted) {
		if err != nil {
			return nil, err
		}
		// Entries of one request have the same ID and stay on one page.
		if count := len(page.Entries); count >= auditPageRows && link.ID != page.Entries[count-1].ID {
			page.Next = r.auditPath("", url.Values{"before": {strconv.FormatInt(page.Entries[count-1].ID, 10)}, "deep": nil})
			break
		}
		page.Entries = append(page.Entries, link.AuditEntry)
	}
	// Only the first page of an open-ended filter can grow.
	if wanted.Before == 0 && wanted.Until.IsZero() {
		page.newRows = newRows{ReloadPath: r.URL.RequestURI(), LivePath: r.auditPath("live", url.Values{"after": {strconv.FormatInt(newest, 10)}})}
	}
	return page, nil
}

// auditPath is a path of the audit with the current filter.
func (r *pageRequest) auditPath(name string, with url.Values) string {
	query := r.URL.Query()
	maps.Copy(query, with)
	return Root + "admin/audit/" + name + "?" + query.Encode()
}

// showNewAuditEntries counts the entries since the newest one of a page.
func showNewAuditEntries(r *pageRequest) (any, error) {
	wanted, err := r.auditFilter()
	if err != nil {
		return nil, err
	}
	// Limit the scan: a page may have been open for days.
	rows, scanned := newRows{}, 0
	wanted.After = int64(r.queryInt("after"))
	wanted.Look = func(int64, time.Time) bool { scanned++; return scanned <= maxNewEntries }
	for _, err := range r.operator().Audit(r.Context(), wanted) {
		if err != nil {
			return nil, err
		}
		rows.Count++
	}
	return rows, nil
}

// downloadAudit writes all entries of a filter as CSV.
func downloadAudit(r *pageRequest) (any, error) {
	wanted, err := r.auditFilter()
	if err != nil {
		return nil, err
	}
	out := r.csvWriter("audit.csv")
	if err := out.Write("at", "actor", "action", "subject", "detail", "source", "request_id"); err != nil {
		return nil, nil // the reader has left
	}
	for link, err := range r.operator().Audit(r.Context(), wanted) {
		if err != nil {
			return nil, r.abortDownload(err)
		}
		if err := out.Write(link.At.UTC().Format(time.RFC3339Nano), link.Actor, link.Action, link.Subject, link.Detail, link.Source, link.RequestID); err != nil {
			return nil, nil // the reader has left
		}
	}
	_ = out.Flush() // the reader has left
	return nil, nil
}

// csvWriter starts the response of a CSV file.
func (r *pageRequest) csvWriter(name string) *spreadsheet.Writer {
	header := r.Writer.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+url.PathEscape(name)+`"`)
	return spreadsheet.NewWriter(r.Writer)
}

// abortDownload breaks the connection, so that the browser reports a failed
// download. The status was sent already, and net/http does not log this panic.
func (r *pageRequest) abortDownload(err error) error {
	r.console.Logger.WarnContext(r.Context(), "console download aborted", "error", err)
	panic(http.ErrAbortHandler)
}
