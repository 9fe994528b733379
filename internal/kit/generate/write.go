package generate

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"landfall"
	"landfall/internal/kit/book"
)

// Written describes a generated book.
type Written struct {
	Lines  map[book.Kind]int
	Faults map[string]int
}

// WrittenTables describes generated tables.
type WrittenTables struct {
	Rows   map[string]int // by file
	Faults map[string]int
}

// drawFunc draws the account at an index: a text per file, its fault, and the figures of the old
// system.
type drawFunc func(index int) (texts [][]byte, fault string, figures landfall.Figures)

// output is what was generated: the lines of each file, the mistakes, and the figures of the old
// system.
type output struct {
	lines  []int
	faults map[string]int
	source landfall.Figures
}

// batch is the lines of a few hundred accounts, by file.
type batch struct {
	lines  [][]byte
	faults map[string]int
	sum    landfall.Figures
}

// batchSize is how many accounts are drawn before they are written.
const batchSize = 256

// WriteBook writes a book and its control totals into a folder, on all cores and in order. Empty
// files are left out. After an error no file of the book is left behind.
func (o Options) WriteBook(ctx context.Context, folder, ending string, progress func(accounts int)) (Written, error) {
	totals := filepath.Join(folder, book.TotalsName)
	// The totals are written last, but an existing file should be reported first.
	if _, err := os.Lstat(totals); err == nil {
		return Written{}, fmt.Errorf("%s already exists; remove it or name another folder", totals)
	}
	var paths []string
	for _, kind := range book.Kinds() {
		paths = append(paths, filepath.Join(folder, kind.Stem+".ndjson"+ending))
	}
	made, err := o.write(ctx, folder, paths, nil, o.drawLines, progress)
	if err != nil {
		return Written{}, err
	}
	printed := Written{Lines: map[book.Kind]int{}, Faults: made.faults}
	for i, kind := range book.Kinds() {
		if made.lines[i] > 0 {
			printed.Lines[kind] = made.lines[i]
		}
	}
	return printed, book.WriteNamed(totals, book.FormatTotals(made.source))
}

// WriteTables writes the same book as tables of the old system, and the map that converts them.
func (o Options) WriteTables(ctx context.Context, folder string, progress func(accounts int)) (WrittenTables, error) {
	if err := o.CheckTables(); err != nil {
		return WrittenTables{}, err
	}
	var paths []string
	var headers [][]byte
	for _, table := range oldTables {
		paths = append(paths, filepath.Join(folder, table.name+".CSV"))
		headers = append(headers, []byte(strings.ReplaceAll(table.columns, " ", ";")+"\r\n"))
	}
	made, err := o.write(ctx, folder, paths, headers, o.DrawTables, progress)
	if err != nil {
		return WrittenTables{}, err
	}
	printed := WrittenTables{Rows: map[string]int{}, Faults: made.faults}
	for i, path := range paths {
		// The header is not a row.
		printed.Rows[filepath.Base(path)] = made.lines[i] - 1
	}
	// Indented JSON is valid YAML.
	totals := strings.ReplaceAll(strings.TrimSpace(string(book.FormatTotals(made.source))), "\n", "\n  ")
	return printed, book.WriteNamed(filepath.Join(folder, MapName), []byte(o.Map()+"\n# The control totals of the old system.\ncontrol_totals:\n  "+totals+"\n"))
}

// drawLines returns the lines of one account, one per file, nil where there is none.
func (o Options) drawLines(index int) (lines [][]byte, fault string, figures landfall.Figures) {
	entry := o.Draw(index)
	for _, line := range [][]byte{entry.Account, entry.Notes, entry.Transactions, entry.Statements, entry.Instruction} {
		if line != nil {
			line = append(line, '\n')
		}
		lines = append(lines, line)
	}
	return lines, entry.Fault, entry.Figures
}

// write writes all files side by side and counts their lines.
func (o Options) write(
	ctx context.Context, folder string, paths []string, headers [][]byte, draw drawFunc, progress func(int),
) (made output, err error) {
	if err := o.Check(); err != nil {
		return output{}, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return output{}, err
	}
	made = output{lines: make([]int, len(paths)), faults: map[string]int{}}
	files := make([]*book.Writer, len(paths))
	defer func() {
		for _, file := range files {
			if file != nil && err != nil {
				err = errors.Join(err, file.Abandon())
			}
		}
	}()
	write := func(i int, text []byte) (err error) {
		if len(text) == 0 {
			return nil
		}
		if files[i] == nil {
			if files[i], err = book.CreateNamed(paths[i]); err != nil {
				return err
			}
		}
		_, err = files[i].Write(text)
		return err
	}
	for i, header := range headers {
		if err = write(i, header); err != nil {
			return output{}, err
		}
	}
	done := 0
	for sheet := range o.batches(ctx, len(paths), draw) {
		for i, text := range sheet.lines {
			if err = write(i, text); err != nil {
				return output{}, err
			}
		}
		for kind, count := range sheet.faults {
			made.faults[kind] += count
		}
		made.source.Currency = sheet.sum.Currency
		made.source.Add(sheet.sum) // no book is long enough to overflow
		done = min(done+batchSize, o.Accounts)
		progress(done)
	}
	if err = ctx.Err(); err != nil {
		return output{}, err
	}
	for i, whole := range files {
		if whole == nil {
			continue
		}
		made.lines[i] = whole.Lines
		// Close ends the file in any case, so it must not be abandoned.
		files[i] = nil
		if err = whole.Close(); err != nil {
			return output{}, err
		}
	}
	return made, nil
}

// batches draws the book on all cores and yields it in order.
func (o Options) batches(ctx context.Context, files int, draw drawFunc) iter.Seq[batch] {
	return book.InOrder(ctx, func(yield func(func() batch) bool) {
		for first := 0; first < o.Accounts; first += batchSize {
			if !yield(func() batch { return drawBatch(first, min(first+batchSize, o.Accounts), files, draw) }) {
				return
			}
		}
	})
}

// drawBatch draws consecutive accounts.
func drawBatch(from, to, files int, draw drawFunc) batch {
	s := batch{lines: make([][]byte, files), faults: map[string]int{}}
	for index := from; index < to; index++ {
		lines, fault, figures := draw(index)
		for i, line := range lines {
			s.lines[i] = append(s.lines[i], line...)
		}
		if fault != "" {
			s.faults[fault]++
		}
		s.sum.Currency = figures.Currency
		s.sum.Add(figures)
	}
	return s
}
