// Package spreadsheet writes CSV files that people open in spreadsheets. No cell
// of such a file is executed as a formula.
package spreadsheet

import (
	"encoding/csv"
	"io"
	"strings"
	"unicode"
)

// Writer writes rows as CSV. Every cell is passed through Escape.
type Writer struct{ rows *csv.Writer }

// NewWriter returns a writer. Its rows are buffered until Flush.
func NewWriter(out io.Writer) *Writer { return &Writer{csv.NewWriter(out)} }

// Write adds a row.
func (w *Writer) Write(cells ...string) error {
	escaped := make([]string, len(cells))
	for i, cell := range cells {
		escaped[i] = Escape(cell)
	}
	return w.rows.Write(escaped)
}

// Flush writes everything that is buffered and returns the first error of all
// writes.
func (w *Writer) Flush() error {
	w.rows.Flush()
	return w.rows.Error()
}

// formulaStarts are the signs that start a formula, also in their full-width forms,
// which Japanese and Chinese versions convert.
const formulaStarts = "=+-@＝＋－＠"

// Escape puts an apostrophe before a text that a spreadsheet would treat as a
// formula. Spreadsheets ignore white space and invisible characters before a
// formula, so these do not hide one, and a leading tab or line break is escaped in
// any case.
func Escape(cell string) string {
	if cell == "" {
		return ""
	}
	visible := strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
	first := []rune(visible + "\x00")[:1][0]
	if strings.ContainsRune(formulaStarts, first) || strings.ContainsAny(cell[:1], "\t\r\n") {
		return "'" + cell
	}
	return cell
}
