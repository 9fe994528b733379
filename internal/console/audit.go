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

// audited is a page of the audit, newest first.
type audited struct {
	head
	Entries []landfall.AuditEntry
	Next    string    // address of the page behind this one; "" when this is the last
	CSV     string    // the same as a file, all of it
	Further string    // address of a longer look from where this one ended; "" when it did not end early
	Back    time.Time // how far back it looked then
	news
}

const (
	auditShown = 100
	// firstAudited is how many entries a page looks at for those that a filter
	// lets through: it is to be there at once. Whoever wants a rarer one has all
	// of them looked at for so long.
	firstAudited = 3_000
	auditTime    = 5 * time.Second
	// mostNews bounds how many new entries are looked at to count them.
	mostNews = 1_000
)

// auditFilter reads which entries are wanted.
func (v *visit) auditFilter() (operate.AuditFilter, error) {
	filter := operate.AuditFilter{Actor: v.query("actor"), Action: v.query("action"), Subject: v.query("subject")}
	for name, into := range map[string]*time.Time{"since": &filter.Since, "until": &filter.Until} {
		text := v.query(name)
		if text == "" {
			continue
		}
		// Addresses made by us carry whole instants; a form has only days, which are days of the
		// reader's zone and not of UTC.
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			zone, failed := time.LoadLocation(v.zone())
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

func audit(v *visit) (any, error) {
	filter, err := v.auditFilter()
	if err != nil {
		return nil, err
	}
	page := audited{head: adminHead("Audit", "audit"), CSV: Root + "admin/audit.csv?" + v.URL.RawQuery}
	page.Wide = true
	filter.Before = int64(v.place("before"))
	began, looked, newest, last := time.Now(), 0, int64(0), int64(0)
	// Look is called for every entry that is read, matching or not: a filter that matches nothing
	// would otherwise read the whole audit behind one page.
	filter.Look = func(id int64, at time.Time) bool {
		enough := looked >= firstAudited
		if v.query("deep") != "" {
			enough = time.Since(began) > auditTime
		}
		if enough {
			page.Further = v.auditPath("", url.Values{"before": {strconv.FormatInt(last, 10)}, "deep": {"1"}})
			return false
		}
		looked, newest, last, page.Back = looked+1, max(newest, id), id, at
		return true
	}
	for link, err := range v.operator().Audit(v.ctx(), filter) {
		if err != nil {
			return nil, err
		}
		// What one request did is one entry, and stays on one page.
		if count := len(page.Entries); count >= auditShown && link.ID != page.Entries[count-1].ID {
			page.Next = v.auditPath("", url.Values{"before": {strconv.FormatInt(page.Entries[count-1].ID, 10)}, "deep": nil})
			break
		}
		page.Entries = append(page.Entries, link.AuditEntry)
	}
	// News are only for a page whose top is the present: an older page, or one with an end,
	// cannot grow at its top.
	if filter.Before == 0 && filter.Until.IsZero() {
		page.news = news{Again: v.URL.RequestURI(), Live: v.auditPath("live", url.Values{"after": {strconv.FormatInt(newest, 10)}})}
	}
	return page, nil
}

// auditPath is an address of the audit with the filter of this one.
func (v *visit) auditPath(name string, with url.Values) string {
	query := v.URL.Query()
	maps.Copy(query, with)
	return Root + "admin/audit/" + name + "?" + query.Encode()
}

// auditNews counts what was done since the newest entry that a page has.
func auditNews(v *visit) (any, error) {
	filter, err := v.auditFilter()
	if err != nil {
		return nil, err
	}
	// The count is what passes the filter, but the bound is on what is looked at: a page that was
	// left open for days must not read a day's work every second.
	found, looked := news{}, 0
	filter.After = int64(v.place("after"))
	filter.Look = func(int64, time.Time) bool { looked++; return looked <= mostNews }
	for _, err := range v.operator().Audit(v.ctx(), filter) {
		if err != nil {
			return nil, err
		}
		found.Count++
	}
	return found, nil
}

// auditFile writes what a page of the audit shows as CSV, to the end.
func auditFile(v *visit) (any, error) {
	filter, err := v.auditFilter()
	if err != nil {
		return nil, err
	}
	// From here on lines may be out, and an error can no longer be answered as one: cutOff breaks
	// the connection instead.
	out := v.table("audit.csv")
	if err := out.Write([]string{"at", "actor", "action", "subject", "detail", "source", "request_id"}); err != nil {
		return nil, nil // the reader has left
	}
	for link, err := range v.operator().Audit(v.ctx(), filter) {
		if err != nil {
			return nil, v.cutOff(err)
		}
		if err := out.Write(harmless(link.At.UTC().Format(time.RFC3339Nano), link.Actor, link.Action, link.Subject, link.Detail, link.Source, link.RequestID)); err != nil {
			return nil, nil // likewise
		}
	}
	out.Flush()
	return nil, nil
}

// table begins a file for spreadsheets.
func (v *visit) table(name string) *csv.Writer {
	header := v.Writer.Header()
	header.Set("Content-Type", "text/csv; charset=utf-8")
	header.Set("Content-Disposition", `attachment; filename="`+url.PathEscape(name)+`"`)
	return csv.NewWriter(v.Writer)
}

// harmless keeps spreadsheets from taking data for formulas.
func harmless(cells ...string) []string {
	for i, cell := range cells {
		// Control characters count as well: spreadsheets skip them and then see the formula
		// behind.
		if cell != "" && (cell[0] == '=' || cell[0] == '+' || cell[0] == '-' || cell[0] == '@' || cell[0] == '\t' || cell[0] == '\r') {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// cutOff ends a file that cannot be finished so that nobody takes it for whole.
func (v *visit) cutOff(err error) error {
	v.console.Logger.WarnContext(v.ctx(), "a file of the console was cut off", "error", err)
	// Without the end of the chunked body a browser reports a failed download; net/http takes
	// this panic as the wish for exactly that and logs nothing.
	panic(http.ErrAbortHandler)
}
