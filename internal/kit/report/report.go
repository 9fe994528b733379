// Package report leaves behind what people need after a book was checked or
// moved: the very lines that failed, ready to be mended and sent again, a
// table for spreadsheets, and a page to look at, print and keep.
//
//	failed/accounts.ndjson …   the lines as they were
//	failures.csv               a row for each thing that is wrong
//	report.html                self-contained: no scripts, nothing fetched
//	report.json                the same figures for programs
package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"landfall"
	"landfall/internal/kit/book"
)

// Summary is what a report says.
type Summary struct {
	Title    string      `json:"title"`
	Sentence string      `json:"sentence"` // what came of it, in one
	MadeAt   time.Time   `json:"made_at"`
	Facts    [][2]string `json:"facts"` // name and value
	Bars     []Bar       `json:"bars"`
	Totals   []Total     `json:"sums,omitempty"`

	Failures landfall.FailureSummary `json:"-"`
	Warnings landfall.FailureSummary `json:"-"`
}

// Total is what a book comes to by one measure, beside what its source says.
type Total struct {
	Measure string `json:"measure"` // as the service names it
	Unit    string `json:"unit"`    // count, or a currency
	Claimed string `json:"claimed"` // "" where the source says nothing
	Book    string `json:"book"`
	Refused string `json:"refused"` // the part on lines that would be refused
	Missing string `json:"missing"` // claimed less book
	Differs bool   `json:"differs"`
}

// Bar is a whole in its parts, such as the accounts of a book.
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

// Part is a share of a whole.
type Part struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
	Tone  Tone   `json:"tone"`
}

// Tone says whether a part is good news.
type Tone string

// The tones.
const (
	Good  Tone = "good"
	Fair  Tone = "fair"
	Bad   Tone = "bad"
	Quiet Tone = "quiet"
)

// Writer keeps a report while it grows, so that a million failures need no
// memory and whatever ends the program leaves the rows written so far.
type Writer struct {
	folder string
	file   *os.File
	out    *bufio.Writer
	rows   *csv.Writer
	failed map[book.Kind]*book.Writer
}

// Begin makes a folder for a report. One that has a report already is an
// error: nothing is overwritten.
func Begin(folder string) (*Writer, error) {
	if err := os.MkdirAll(filepath.Join(folder, "failed"), 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(folder, "failures.csv"), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			err = fmt.Errorf("%s has a report already; remove it or name another folder", folder)
		}
		return nil, err
	}
	w := &Writer{folder: folder, file: file, out: bufio.NewWriter(file), failed: map[book.Kind]*book.Writer{}}
	// Spreadsheets take a file for Windows-1252 unless it begins like this.
	_, _ = w.out.WriteString("\xef\xbb\xbf") // Flush repeats the error
	w.rows = csv.NewWriter(w.out)
	return w, w.rows.Write([]string{"file", "line", "external_account_number", "severity", "code", "attr", "detail"})
}

// Fail keeps a line that failed with everything that is wrong with it.
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

// NotSent keeps a line that was not sent because its account failed.
func (w *Writer) NotSent(file book.File, line book.Line, external string) error {
	if err := w.copyLine(file.Kind, line); err != nil {
		return err
	}
	return w.row(file, line, external, "not sent", landfall.Violation{Code: CodeAccountFailed, Detail: "Its account failed, so it was not sent."})
}

// CodeAccountFailed is in the table where a line was not sent at all.
const CodeAccountFailed = "account_failed"

// Warn keeps what is strange about a line that was taken all the same.
func (w *Writer) Warn(file book.File, line book.Line, external string, warnings []landfall.Violation) error {
	for _, violation := range warnings {
		if err := w.row(file, line, external, "warning", violation); err != nil {
			return err
		}
	}
	return nil
}

// copyLine copies a line byte for byte. One that was too long to be read is only
// named in the table.
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
	return w.rows.Write([]string{
		book.EscapeFormula(filepath.Base(file.Path)), strconv.Itoa(line.Number), book.EscapeFormula(external), severity,
		violation.Code, book.EscapeFormula(violation.Attr), book.EscapeFormula(violation.Detail),
	})
}

// Finish writes the page and closes everything.
func (w *Writer) Finish(summary Summary) error {
	w.rows.Flush()
	err := errors.Join(w.rows.Error(), w.out.Flush(), w.file.Sync(), w.file.Close())
	for _, file := range w.failed {
		err = errors.Join(err, file.Close())
	}
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
		os.WriteFile(filepath.Join(w.folder, "report.json"), append(text, '\n'), 0o600),
		os.WriteFile(filepath.Join(w.folder, "report.html"), html, 0o600))
}

// groupJSON is a kind of failure on the wire.
type groupJSON struct {
	Code     string `json:"code"`
	Attr     string `json:"attr"`
	Accounts int    `json:"accounts"`
	Alone    int    `json:"alone"`
}

// Figures is the summary as programs read it.
func (summary Summary) Figures() any {
	groups := func(of []landfall.FailureGroup) []groupJSON {
		list := make([]groupJSON, len(of))
		for i, one := range of {
			list[i] = groupJSON(one)
		}
		return list
	}
	return struct {
		Summary
		Failures []groupJSON `json:"failures"`
		Warnings []groupJSON `json:"warnings"`
	}{summary, groups(summary.Failures.Groups), groups(summary.Warnings.Groups)}
}
