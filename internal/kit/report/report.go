// Package report writes the report of a check or an import: the failed lines, ready to be fixed and
// sent again, a CSV table, and an HTML page.
//
//	failed/accounts.ndjson …   the failed lines, unchanged
//	failures.csv               a row for each error
//	differences.csv            a row for each attr in which an account that exists differs, if any
//	report.html                self-contained, without scripts
//	report.json                the figures as JSON
package report

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/api/contract"
	"landfall/internal/kit/book"
	"landfall/internal/lib/spreadsheet"
)

// Summary is the content of a report.
type Summary struct { //nolint:recvcheck // copied where it is only read
	Title    string      `json:"title"`
	Sentence string      `json:"sentence"` // the result in one sentence
	MadeAt   time.Time   `json:"made_at"`
	Program  string      `json:"program"` // name and version
	Facts    [][2]string `json:"facts"`   // names and values
	Bars     []Bar       `json:"-"`       // of the page
	// Counts are the figures behind the bars, by name, for programs.
	Counts map[string]any `json:"totals"`
	Totals []Total        `json:"sums,omitempty"`
	Tables []Table        `json:"-"` // further tables of the page

	Failures landfall.FailureSummary `json:"-"`
	Warnings landfall.FailureSummary `json:"-"`
	// Differences counts the attrs in which accounts that exist differ. Finish sets it.
	Differences landfall.FailureSummary `json:"-"`
}

// Total compares a book with its control totals by one measure.
type Total struct {
	Measure string `json:"measure"` // as the service names it
	Unit    string `json:"unit"`    // count, or a currency
	Claimed string `json:"claimed"` // "" without control totals
	Book    string `json:"book"`
	Refused string `json:"refused"` // the part on lines that would be refused
	Missing string `json:"missing"` // claimed minus book
	Differs bool   `json:"differs"`
}

// Table is a table of the page.
type Table struct {
	Title   string
	Remark  string
	Columns []string
	Rows    [][]string
}

// Bar is a bar of parts, such as the accounts of a book.
type Bar struct {
	Name  string `json:"name"`
	Parts []Part `json:"parts"`
}

// Whole is the sum of the parts.
func (b Bar) Whole() (sum int) {
	for _, part := range b.Parts {
		sum += part.Count
	}
	return sum
}

// Part is a part of a bar.
type Part struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Tone  Tone   `json:"tone"`
}

// Tone decides the color of a part.
type Tone string

// The tones.
const (
	Good  Tone = "good"
	Fair  Tone = "fair"
	Bad   Tone = "bad"
	Quiet Tone = "quiet"
)

// Writer writes a report step by step, so that a million failures need no memory.
type Writer struct {
	folder string
	file   *os.File
	out    *bufio.Writer
	rows   *spreadsheet.Writer
	failed map[book.Kind]*book.Writer

	differences *spreadsheet.Writer // nil until there are some
	differsFile *os.File
	differs     landfall.FailureTally // by attr
}

// Begin creates the folder of a report. An existing report is an error.
func Begin(folder string) (*Writer, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := book.MakeFolder(filepath.Join(folder, "failed")); err != nil {
		return nil, err
	}
	// Checked now, not after the work. A link with such a name counts as well.
	for _, name := range []string{"failures.csv", "differences.csv", "report.json", "report.html"} {
		if _, err := os.Lstat(filepath.Join(folder, name)); !errors.Is(err, os.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("%s has a report already; remove it or name another folder", folder), err)
		}
	}
	file, err := os.OpenFile(filepath.Join(folder, "failures.csv"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	w := &Writer{folder: folder, file: file, out: bufio.NewWriter(file), failed: map[book.Kind]*book.Writer{}}
	// Without a byte order mark, spreadsheets assume windows-1252.
	_, _ = w.out.WriteString("\xef\xbb\xbf") // Flush returns the error
	w.rows = spreadsheet.NewWriter(w.out)
	return w, w.rows.Write("file", "line", "external_account_number", "severity", "code", "attr", "detail")
}

// Fail adds a failed line with all its violations.
func (w *Writer) Fail(file book.File, line book.Line, external string, failure landfall.Failure) error {
	if err := w.copyLine(file.Kind, line); err != nil {
		return err
	}
	if len(failure.Violations) == 0 {
		return w.row(file, line, external, "error", landfall.Violation{Code: failure.Code, Detail: failure.Detail})
	}
	for _, violation := range failure.Violations {
		if err := w.row(file, line, external, "error", violation); err != nil {
			return err
		}
	}
	return nil
}

// NotSent adds a line that was not sent because its account failed.
func (w *Writer) NotSent(file book.File, line book.Line, external string) error {
	if err := w.copyLine(file.Kind, line); err != nil {
		return err
	}
	return w.row(file, line, external, "not sent", landfall.Violation{Code: CodeAccountFailed, Detail: "Its account failed, so it was not sent."})
}

// Differs adds an account that exists and differs from its line: the attrs that differ, with their
// values in the book. The values on the server are not known.
func (w *Writer) Differs(file book.File, line book.Line, external string, attrs []landfall.Violation) error {
	if w.differences == nil {
		opened, err := os.OpenFile(filepath.Join(w.folder, "differences.csv"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		w.differsFile, w.differences = opened, spreadsheet.NewWriter(opened)
		if err := w.differences.Write("file", "line", "external_account_number", "attr", "book"); err != nil {
			return err
		}
	}
	w.differs.Add(landfall.Failure{Violations: attrs})
	for _, one := range attrs {
		err := w.differences.Write(filepath.Base(file.Path), strconv.Itoa(line.Number), external, one.Attr, contract.ValueAt(line.Text, one.Attr))
		if err != nil {
			return err
		}
	}
	return nil
}

// CodeAccountFailed is the code of a line that was not sent.
const CodeAccountFailed = "account_failed"

// Warn adds the warnings of a valid line.
func (w *Writer) Warn(file book.File, line book.Line, external string, warnings []landfall.Violation) error {
	for _, violation := range warnings {
		if err := w.row(file, line, external, "warning", violation); err != nil {
			return err
		}
	}
	return nil
}

// copyLine copies a line byte for byte. A line that was too long to be read is only listed in the
// table.
func (w *Writer) copyLine(kind book.Kind, line book.Line) error {
	if line.TooLong {
		return nil
	}
	file := w.failed[kind]
	if file == nil {
		var err error
		if file, err = book.Create(filepath.Join(w.folder, "failed"), kind, ""); err != nil {
			return err
		}
		w.failed[kind] = file
	}
	_, err := file.Write(append(slices.Clip(line.Text), '\n'))
	return err
}

func (w *Writer) row(file book.File, line book.Line, external, severity string, violation landfall.Violation) error {
	return w.rows.Write(filepath.Base(file.Path), strconv.Itoa(line.Number), external, severity, violation.Code, violation.Attr, violation.Detail)
}

// Finish writes the page and closes all files.
func (w *Writer) Finish(summary Summary) error {
	err := errors.Join(w.rows.Flush(), w.out.Flush(), w.file.Sync(), w.file.Close())
	lines := 0
	for _, file := range w.failed {
		lines += file.Lines
		err = errors.Join(err, file.Close())
	}
	if lines > 0 {
		err = errors.Join(err, WriteOrigin(filepath.Join(w.folder, "failed"),
			contract.Origin{Program: summary.Program, MadeAt: summary.MadeAt, FailedLines: lines}))
	}
	if w.differences != nil {
		err = errors.Join(err, w.differences.Flush(), w.differsFile.Sync(), w.differsFile.Close())
	}
	summary.Differences = w.differs.Summary()
	if err != nil {
		return err
	}
	text, err := json.MarshalIndent(summary.Figures(), "", "  ")
	if err != nil {
		return err
	}
	html, err := Page(summary)
	if err != nil {
		return err
	}
	return errors.Join(
		book.WriteNamed(filepath.Join(w.folder, "report.json"), append(text, '\n')),
		book.WriteNamed(filepath.Join(w.folder, "report.html"), html))
}

// groupJSON is a group of failures as JSON.
type groupJSON struct {
	Code     string `json:"code"`
	Attr     string `json:"attr"`
	Accounts int    `json:"accounts"`
	Alone    int    `json:"alone"`
}

// attrJSON is an attr in which accounts differ.
type attrJSON struct {
	Attr     string `json:"attr"`
	Accounts int    `json:"accounts"`
}

// Figures returns the summary as JSON data.
func (summary Summary) Figures() any {
	groups := func(of []landfall.FailureGroup) []groupJSON {
		list := make([]groupJSON, len(of))
		for i, one := range of {
			list[i] = groupJSON(one)
		}
		return list
	}
	attrs := []attrJSON{}
	for _, one := range summary.Differences.Groups {
		attrs = append(attrs, attrJSON{one.Attr, one.Accounts})
	}
	return struct {
		Summary
		Failures []groupJSON `json:"failures"`
		Warnings []groupJSON `json:"warnings"`
		Differs  []attrJSON  `json:"differences"`
	}{summary, groups(summary.Failures.Groups), groups(summary.Warnings.Groups), attrs}
}
