package console

import (
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"landfall"
	"landfall/internal/lib/limits"
	"landfall/internal/lib/spreadsheet"
	"landfall/internal/service/operate"
)

// auditPage is a page of the audit, newest first.
type auditPage struct {
	pageHead
	Groups      []auditGroup
	Next        string    // path of the next page; "" on the last one
	CSV         string    // path of the same entries as a file
	ScanFurther string    // path that continues a scan that ended early; "" if it did not
	ScannedTo   time.Time // where that scan ended
	newRows
}

// auditGroup is what one act caused: an undo of a run is an entry for each account.
type auditGroup struct {
	landfall.AuditEntry                       // the newest
	Entries             []landfall.AuditEntry // all, the newest first, at most maxGroupEntries
	Count               int
}

// maxGroupEntries limits how many entries of an act a page shows.
const maxGroupEntries = 500

// Supplier is the supplier of the accounts of a group, or "".
func (g auditGroup) Supplier() string {
	supplier, _, _ := strings.Cut(g.Subject, "/")
	return supplier
}

// Hidden is how many entries the page does not show.
func (g auditGroup) Hidden() int { return g.Count - len(g.Entries) }

// sameAct reports whether an older entry was caused by the same act as a group: the
// same thing done to another account by the same person in the same request, or on the
// command line at about the same time.
func (g auditGroup) sameAct(older landfall.AuditEntry) bool {
	last := g.Entries[len(g.Entries)-1]
	request := func(entry landfall.AuditEntry) string {
		id, _, _ := strings.Cut(entry.RequestID, "/") // the lines of a bulk request
		return id
	}
	return older.Actor == g.Actor && older.Action == g.Action && strings.Contains(g.Subject, "/") && strings.HasPrefix(older.Subject, g.Supplier()+"/") &&
		request(older) == request(last) && (request(older) != "" || last.At.Sub(older.At) < time.Minute)
}

// addEntry adds an entry to the last group, or as a new one. It returns false when the
// page is full.
func (p *auditPage) addEntry(entry landfall.AuditEntry) bool {
	if last := len(p.Groups) - 1; last >= 0 && p.Groups[last].sameAct(entry) {
		group := &p.Groups[last]
		if group.Count++; len(group.Entries) < maxGroupEntries {
			group.Entries = append(group.Entries, entry)
		} else {
			group.Entries[maxGroupEntries-1] = entry // the next one is compared with it
		}
		return true
	}
	if len(p.Groups) >= auditPageRows {
		return false
	}
	p.Groups = append(p.Groups, auditGroup{AuditEntry: entry, Entries: []landfall.AuditEntry{entry}, Count: 1})
	return true
}

const (
	auditPageRows = 100
	// firstAuditScan is how many entries a page scans for a filter, to be fast. A
	// longer scan is limited by limits.ConsoleAudit.
	firstAuditScan = 3_000
	// maxNewEntries limits how many new entries are scanned to count them.
	maxNewEntries = 1_000
)

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
	wanted.Before = int64(r.queryInt("before"))
	started, scanned, newest, last, previous := time.Now(), 0, int64(0), int64(0), int64(0)
	// Look is called for every entry, so that a filter without matches does not
	// read the whole audit for one page.
	wanted.Look = func(id int64, at time.Time) bool {
		enough := scanned >= firstAuditScan
		if r.queryParam("deep") != "" {
			enough = time.Since(started) > limits.ConsoleAudit
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
		if !page.addEntry(link.AuditEntry) && link.ID != previous {
			page.Next = r.auditPath("", url.Values{"before": {strconv.FormatInt(previous, 10)}, "deep": nil})
			break
		}
		previous = link.ID
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
