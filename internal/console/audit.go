package console

import (
	"context"
	"encoding/csv"
	"net/http"
	"net/url"
	"time"

	"landfall"
	"landfall/internal/operate"
)

// audited is a page of the audit, newest first.
type audited struct {
	head
	Entries []landfall.AuditEntry
	Next    string // address of the page behind this one; "" when this is the last
	CSV     string // the same as a file, all of it
	Cut     bool   // looking took too long; what is shown is not all
}

const (
	auditShown = 100
	// auditTime bounds how long a page looks for entries that are rare.
	auditTime = 5 * time.Second
)

// auditFilter reads which entries are wanted.
func (v *visit) auditFilter() (operate.AuditFilter, error) {
	filter := operate.AuditFilter{Actor: v.query("actor"), Action: v.query("action"), Subject: v.query("subject")}
	for name, into := range map[string]*time.Time{"since": &filter.Since, "until": &filter.Until} {
		text := v.query(name)
		if text == "" {
			continue
		}
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
	looking, cancel := context.WithTimeout(v.ctx(), auditTime)
	defer cancel()
	for link, err := range v.operator().Audit(looking, filter) {
		if err != nil {
			if looking.Err() != nil && v.ctx().Err() == nil {
				page.Cut = true
				break
			}
			return nil, err
		}
		// Entries of the same moment stay on the same page: the next one begins
		// at a moment.
		if count := len(page.Entries); count >= auditShown && !link.At.Equal(page.Entries[count-1].At) {
			next := v.URL.Query()
			next.Set("until", page.Entries[count-1].At.Format(time.RFC3339Nano))
			page.Next = Root + "admin/audit/?" + next.Encode()
			break
		}
		page.Entries = append(page.Entries, link.AuditEntry)
	}
	return page, nil
}

// auditFile writes what a page of the audit shows as CSV, to the end.
func auditFile(v *visit) (any, error) {
	filter, err := v.auditFilter()
	if err != nil {
		return nil, err
	}
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
		if cell != "" && (cell[0] == '=' || cell[0] == '+' || cell[0] == '-' || cell[0] == '@' || cell[0] == '\t' || cell[0] == '\r') {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// cutOff ends a file that cannot be finished so that nobody takes it for whole.
func (v *visit) cutOff(err error) error {
	v.console.Logger.WarnContext(v.ctx(), "a file of the console was cut off", "error", err)
	panic(http.ErrAbortHandler)
}
