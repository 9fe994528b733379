package export

import (
	"encoding/csv"

	"landfall/internal/api/rules"
	"landfall/internal/lib/spreadsheet"
)

// csvWriter writes a CSV file per table.
type csvWriter struct {
	journal *journal
	layout  *layout
	files   map[*tableLayout]*csvFile
}

type csvFile struct {
	file  *growingFile
	rows  *csv.Writer
	cells []string
}

// begin creates the files with their headings.
func (w *csvWriter) begin(l *layout) error {
	w.layout, w.files = l, map[*tableLayout]*csvFile{}
	for _, t := range l.tables {
		file, err := w.journal.file(t.name + ".csv")
		if err != nil {
			return err
		}
		one := &csvFile{file: file, rows: csv.NewWriter(file), cells: make([]string, len(t.columns))}
		w.files[t] = one
		if file.size > 0 {
			continue
		}
		for i := range t.columns {
			one.cells[i] = t.columns[i].name
		}
		if err := one.rows.Write(one.cells); err != nil {
			return err
		}
		one.rows.Flush()
	}
	return nil
}

// row writes a row. Texts are guarded, so that a spreadsheet does not execute them; numbers and dates
// cannot be formulas.
func (w *csvWriter) row(t *tableLayout, row []cell) error {
	one := w.files[t]
	for i := range row {
		text := row[i].text
		if shape := t.columns[i].typ.Shape; !row[i].set {
			text = ""
		} else if shape == rules.ShapeText || shape == rules.ShapeAny {
			text = spreadsheet.Escape(text)
		}
		one.cells[i] = text
	}
	one.file.rows++
	return one.rows.Write(one.cells)
}

func (w *csvWriter) page(int) error {
	for _, one := range w.files {
		one.rows.Flush()
		if err := one.rows.Error(); err != nil {
			return err
		}
	}
	return nil
}

func (w *csvWriter) checkpoint() (bool, error) { return true, w.journal.sync() }

func (w *csvWriter) finish() error { return describe(w.journal, w.layout, ".csv") }
